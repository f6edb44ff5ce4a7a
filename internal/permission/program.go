package permission

import (
	"path"
	"slices"
	"strings"
)

// What programs are known to do. A program that is not here is only known to
// execute; what it does inside is for the sandbox to hold.

// networkPrograms reach the network whatever their operands.
var networkPrograms = wordSet("curl wget aria2c http https xh lynx w3m nc ncat netcat socat telnet ftp sftp ssh scp rsync rclone " +
	"ping ping6 traceroute tracepath mtr host dig nslookup whois openssl nmap npx pnpx bunx uvx pipx " +
	"apt apt-get dnf yum apk pacman zypper brew port snap flatpak " +
	"gh glab hub aws az gcloud gsutil kubectl helm terraform tofu pulumi vercel netlify heroku flyctl ansible ansible-playbook mail sendmail")

// networkSubcommands are the ones of otherwise local programs.
var networkSubcommands = map[string]map[string]bool{
	"git":      wordSet("push fetch pull clone ls-remote submodule request-pull send-email svn p4 lfs fetch-pack send-pack http-fetch http-push daemon"),
	"npm":      wordSet("install i in add ci update up upgrade publish unpublish exec x create init audit view info search login adduser deprecate dist-tag token owner access ping outdated link"),
	"pnpm":     wordSet("install i add update up publish dlx exec create audit fetch import outdated"),
	"yarn":     wordSet("install add upgrade up dlx publish create npm info audit"),
	"bun":      wordSet("install i add update x create publish upgrade"),
	"pip":      wordSet("install download index search wheel"),
	"pip3":     wordSet("install download index search wheel"),
	"uv":       wordSet("pip add sync lock tool run publish python self"),
	"poetry":   wordSet("install add update lock publish self"),
	"cargo":    wordSet("install publish add update fetch search login yank owner package vendor"),
	"go":       wordSet("get install mod work"),
	"gem":      wordSet("install update push fetch search yank"),
	"bundle":   wordSet("install update add"),
	"composer": wordSet("install update require create-project"),
	"docker":   wordSet("pull push login run build buildx search create import"),
	"podman":   wordSet("pull push login run build search create"),
	"mvn":      wordSet("deploy"), "gradle": wordSet("publish"), "dotnet": wordSet("restore add publish nuget tool"),
}

// readOnlyGit are git's subcommands that change neither repository nor files.
// Those with a set are read-only with one of its words only.
var readOnlyGit = map[string]map[string]bool{
	"status": nil, "diff": nil, "log": nil, "show": nil, "blame": nil, "annotate": nil, "describe": nil, "ls-files": nil,
	"ls-tree": nil, "ls-remote": nil, "rev-parse": nil, "rev-list": nil, "show-ref": nil, "show-branch": nil, "shortlog": nil,
	"cat-file": nil, "grep": nil, "merge-base": nil, "name-rev": nil, "for-each-ref": nil, "count-objects": nil, "cherry": nil,
	"check-ignore": nil, "check-attr": nil, "diff-tree": nil, "diff-index": nil, "diff-files": nil, "var": nil, "version": nil,
	"help": nil, "whatchanged": nil, "archive": nil, "verify-commit": nil, "verify-tag": nil, "fetch": nil, "clone": nil,
	"branch":   wordSet("--show-current --list -l -a -r -v -vv --all --remotes --contains --merged --no-merged"),
	"tag":      wordSet("--list -l --contains --points-at --merged -n"),
	"stash":    wordSet("list show"),
	"remote":   wordSet("-v --verbose show get-url"),
	"worktree": wordSet("list"),
	"config":   wordSet("--get --get-all --get-regexp --get-urlmatch --list -l get list"),
	"reflog":   wordSet("show"),
}

// writers change the files among their operands.
var writers = wordSet("rm rmdir unlink shred mv cp ln tee touch mkdir mkfifo mknod install truncate dd chmod chown chgrp chattr setfacl " +
	"patch tar unzip zip gzip gunzip bzip2 xz zstd cpio ar split csplit rsync ex ed")

// writingOptions make a program write that otherwise reads.
var writingOptions = map[string]map[string]bool{
	"sed": wordSet("-i --in-place"), "perl": wordSet("-i"), "ruby": wordSet("-i"), "sort": wordSet("-o --output"),
	"find": wordSet("-delete -fprint -fprint0 -fprintf -fls"), "tree": wordSet("-o"), "gofmt": wordSet("-w"), "goimports": wordSet("-w"),
	"prettier": wordSet("--write -w"), "curl": wordSet("-o -O --output --remote-name -J --create-dirs"), "wget": wordSet("-O -P"),
	"xxd": wordSet("-r"), "uniq": nil, "yq": wordSet("-i --inplace"), "rustfmt": nil, "black": nil,
}

// capabilities is what one command can do, as far as its words tell.
func (f *fold) capabilities(u unit) []Capability {
	caps := []Capability{Execute}
	if len(u.words) == 0 {
		caps = nil
	}
	words := texts(u.words)
	if usesNetwork(words) || slices.ContainsFunc(slices.Concat(u.writes, u.reads), netDevice) {
		caps = append(caps, Network)
	}
	if modifiesGit(words) {
		caps = append(caps, GitModify)
	}
	if len(u.writes) > 0 || writesFiles(words) {
		caps = append(caps, FileWrite)
	}
	if f.leavesProject(u) {
		caps = append(caps, OutsideProject)
	}
	return caps
}

func usesNetwork(words []string) bool {
	if len(words) == 0 {
		return false
	}
	name := programName(words[0])
	if networkPrograms[name] || slices.ContainsFunc(words, netDevice) {
		return true
	}
	sub := networkSubcommands[name]
	if name == "git" {
		words = dropGlobalOptions(words)
		if len(words) > 2 && (words[1] == "remote" && (words[2] == "update" || words[2] == "add") || words[1] == "archive" && hasPrefixed(words, "--remote")) {
			return true
		}
	}
	if (name == "python" || name == "python3") && len(words) > 3 && words[1] == "-m" && words[2] == "pip" {
		return true
	}
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") {
			return sub[w]
		}
	}
	return name == "yarn" // yarn alone installs
}

func netDevice(w string) bool {
	return strings.Contains(w, "/dev/tcp/") || strings.Contains(w, "/dev/udp/")
}

func hasPrefixed(words []string, prefix string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, prefix) })
}

func modifiesGit(words []string) bool {
	if len(words) == 0 || programName(words[0]) != "git" {
		return false
	}
	words = dropGlobalOptions(words)
	if len(words) == 1 {
		return false
	}
	only, known := readOnlyGit[words[1]]
	if !known {
		return !strings.HasPrefix(words[1], "-")
	}
	if len(words) == 2 {
		return words[1] == "stash"
	}
	return only != nil && !only[words[2]]
}

func writesFiles(words []string) bool {
	if len(words) == 0 {
		return false
	}
	name := programName(words[0])
	if writers[name] || (name == "uniq" && len(operandTexts(words)) > 1) {
		return true
	}
	if name == "git" {
		sub := dropGlobalOptions(words)
		return len(sub) > 1 && (sub[1] == "clean" || sub[1] == "rm" || sub[1] == "mv" || hasPrefixed(sub[1:], "--output"))
	}
	options := writingOptions[name]
	return slices.ContainsFunc(words[1:], func(w string) bool {
		option, _, _ := strings.Cut(w, "=")
		if options[option] {
			return true
		}
		// Short options carry their value with them: -i.bak, -oFILE.
		return len(w) > 2 && w[0] == '-' && w[1] != '-' && name != "find" && options[w[:2]]
	})
}

func operandTexts(words []string) []string {
	var list []string
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") || w == "-" {
			list = append(list, w)
		}
	}
	return list
}

// deviceFiles are outside of the project and harmless.
var deviceFiles = wordSet("/dev/null /dev/stdin /dev/stdout /dev/stderr /dev/tty /dev/zero /dev/urandom")

// leavesProject reports whether a command works or names a path outside.
func (f *fold) leavesProject(u unit) bool {
	if u.dir == "" || !within(f.opt.Root, u.dir) {
		return true
	}
	out := func(p string) bool { return p == "" || !within(f.opt.Root, p) && !deviceFiles[p] }
	if slices.ContainsFunc(u.writes, out) || slices.ContainsFunc(u.reads, out) {
		return true
	}
	if len(u.words) == 0 {
		return false
	}
	if viewers[programName(u.words[0].text)] && !writesFiles(texts(u.words)) {
		return slices.ContainsFunc(f.pathsIn(u), func(p string) bool { return out(p) && !systemRead(p) })
	}
	return slices.ContainsFunc(f.pathsIn(u), out)
}

// systemRead: what every program reads anyway counts as a plain read.
func systemRead(p string) bool {
	return p == "/etc/os-release" || slices.ContainsFunc([]string{"/usr", "/bin", "/lib", "/lib32", "/lib64"}, func(folder string) bool { return within(folder, p) })
}

// pathsIn lists the words of a command, and parts of them, that look like
// paths: absolute, from the home directory, or through a parent folder.
func (f *fold) pathsIn(u unit) []string {
	var paths []string
	for _, w := range u.words[1:] {
		for _, candidate := range pathCandidates(w.text) {
			if rest, home := strings.CutPrefix(candidate, "~"); home && (rest == "" || rest[0] == '/') {
				candidate = f.opt.Home + rest
			}
			parent := slices.Contains(strings.Split(candidate, "/"), "..")
			if path.IsAbs(candidate) || parent {
				paths = append(paths, resolve(u.dir, candidate))
			}
		}
	}
	if program := u.words[0].text; strings.Contains(program, "..") {
		paths = append(paths, resolve(u.dir, program))
	}
	return paths
}

// pathCandidates are the word, what follows its = or :, and the value of a
// short option. A URL is none.
func pathCandidates(w string) []string {
	if strings.Contains(w, "://") {
		return nil
	}
	list := []string{w}
	for i := range len(w) {
		if w[i] == '=' || w[i] == ':' || w[i] == '@' {
			list = append(list, w[i+1:])
		}
	}
	if len(w) > 2 && w[0] == '-' && w[1] != '-' {
		list = append(list, w[2:])
	}
	return list
}

// carriers are options that start programs, run text or read further
// configuration. An allow rule that ends in * does not cover them.
var carriers = map[string]map[string]bool{
	"": wordSet("-exec --exec -execdir -toolexec -vettool --pre --ext-diff --textconv --eval --config --config-env --exec-path --prefix " +
		"--rulesdir --plugin --plugins --resolve-plugins-relative-to --require --import --loader --experimental-loader --filter --to-command " +
		"--checkpoint-action --use-compress-program --compress-program --rsh --upload-pack --receive-pack --open-files-in-pager --output --pager --editor " +
		"--command --init-file --rcfile --hook --hooks --script-shell --node-options --shell --wrapper --runner --globalconfig --userconfig " +
		"--config-file --rcfile --confcutdir --rootdir --rulesdir --reporter --reporters --environment --setupFiles --globalSetup --test-program " +
		"--manifest-path --target-dir --workspace-root --overlay -overlay -modfile --modfile -C --directory --file --makefile --include --include-dir --files-from"),
	"git":     wordSet("-O --template --no-index -x"),
	"pytest":  wordSet("-p -c -o --override-ini"),
	"python":  wordSet("-c -i -x"),
	"python3": wordSet("-c -i -x"),
	"node":    wordSet("-e -p -r --print"), "deno": wordSet("eval"), "bun": wordSet("-e -p"),
	"ruby": wordSet("-e -r -I"), "perl": wordSet("-e -E -M -I"), "php": wordSet("-r -B -R -E -d"), "lua": wordSet("-e -l"),
	"make": wordSet("-f -E -I"), "gmake": wordSet("-f -E -I"),
	"rsync": wordSet("-e"), "zip": wordSet("-TT -T"), "sort": wordSet("-o -T"), "tar": wordSet("-I -F --info-script --new-volume-script"),
	"rg": wordSet("--pre --hostname-bin --search-zip -z -f"), "fd": wordSet("-x -X"), "find": wordSet("-delete -ok -okdir -fprint -fprint0 -fprintf -fls"),
	"sed": wordSet("-i --in-place -f -e"), "man": wordSet("-P -H"), "less": wordSet("-o -k"), "cargo": wordSet("--config -Z"),
	"go": wordSet("-ldflags -gcflags -asmflags -gccgoflags -exec -toolexec -vettool -pkgdir"), "npm": wordSet("-c --call"), "date": wordSet("-s --set -f"),
	"eslint": wordSet("-c -f --format"), "tsc": wordSet("-p"), "jest": wordSet("-c"), "gofmt": wordSet("-r"), "grep": wordSet("-f"),
	"xargs": nil, "docker": wordSet("-v --volume --mount --privileged --pid --device -H --host --cap-add --network --net"),
}

// carries reports whether a command has an option that a rule with * does not
// answer for.
func carries(words []string) bool {
	own, all := carriers[programName(words[0])], carriers[""]
	if programName(words[0]) == "git" {
		globals := words[1:gitSubcommand(words)]
		if len(globals) > 0 && !slices.Equal(globals, []string{"--no-pager"}) || slices.ContainsFunc(words[1:], runsHelper) {
			return true
		}
	}
	return slices.ContainsFunc(words[1:], func(w string) bool {
		name, _, _ := strings.Cut(w, "=")
		if own[name] || all[name] {
			return true
		}
		attached := len(w) > 2 && w[0] == '-' && w[1] != '-' && own[w[:2]]
		return attached || (strings.HasPrefix(w, "-") && all["-"+name])
	})
}

// runsHelper: words that make git start a program, the transport of an address
// among them.
func runsHelper(w string) bool {
	return w == "run" || w == "foreach" || w == "difftool" || w == "mergetool" || strings.Contains(w, "::")
}

// isRunner: runners execute what their words say; a rule with * covers them
// only if it names what they run as well.
func isRunner(name string) bool {
	_, wraps := wrappers[name]
	return wraps || shells[name] || interpreters[name] || otherRunners[name]
}

var otherRunners = wordSet("eval source . trap script su ssh exec alias npx bunx uvx pnpx")
