package permission

import (
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
)

// floorEntry is one line of the hardline floor. F- entries never run, A-
// entries always ask; no rule, grant or mode lifts either.
type floorEntry struct {
	id   string
	what string
	// hit looks at one command.
	hit func(s scene) bool
	// path looks at one file of a file tool, or at one that a redirect or an
	// operand names.
	path func(f *fold, use fileUse) bool
}

// floor is the whole of it. It stays small: what there is no way back from,
// and attacks on the program itself.
var floor = []floorEntry{
	{id: "F-ROOT", what: "deletes the system, a system directory or a home directory", hit: deletesRoot},
	{id: "F-RAWDEV", what: "formats or overwrites a disk", hit: formatsDisk, path: rawDevice},
	{id: "F-POWER", what: "shuts the machine down", hit: powersOff},
	{id: "F-SYSWRITE", what: "changes system configuration or programs", path: systemWrite},
	{id: "F-SYSPERM", what: "changes the permissions of system or home directories", hit: systemPermissions},
	{id: "F-PROTPUSH", what: "force-pushes or deletes a protected branch", hit: protectedPush},
	{id: "F-HISTORY", what: "rewrites or removes the history of the repository", hit: rewritesHistory},
	{id: "F-SECRET", what: "reads private keys or stored credentials", path: credentialStore},
	{id: "F-METADATA", what: "asks the cloud's metadata service", hit: metadataService},
	{id: "F-SELF", what: "stops this program or changes its rules, logs or queue", hit: attacksSelf, path: ownState},
	{id: "A-SUDO", what: "runs as another user", hit: otherUser},
	{id: "A-DISCARD", what: "throws work away", hit: discardsWork},
	{id: "A-PUSH", what: "force-pushes without naming the branch", hit: blindForcePush},
	{id: "A-PERSIST", what: "changes files that other programs execute later", hit: persists, path: executedLater},
	{id: "A-SECRETFILE", what: "reads a file of secrets", path: secretFile},
}

// Entries about the whole of a command.
const (
	forkBombID = "F-FORKBOMB"
	pipeID     = "F-PIPESH"
)

// scene is one command as the floor sees it.
type scene struct {
	f     *fold
	u     unit
	name  string   // program without its folder
	words []string // with the program
}

// fileUse is one file that is read or written.
type fileUse struct {
	path  string   // absolute
	parts []string // its elements
	write bool
}

func useOf(p string, write bool) fileUse { return fileUse{path: p, parts: elements(p), write: write} }

// floorOf lists what a command violates.
func (f *fold) floorOf(r reading) []verdict {
	var hits []verdict
	if r.forkBomb {
		hits = append(hits, floorVerdict(forkBombID, "starts itself without end"))
	}
	if r.pipedDownload {
		hits = append(hits, floorVerdict(pipeID, "runs downloaded text unseen"))
	}
	for _, u := range r.units {
		s := scene{f: f, u: u, words: texts(u.words)}
		if len(s.words) > 0 {
			s.name = programName(s.words[0])
		}
		for _, e := range floor {
			if e.hit != nil && s.name != "" && e.hit(s) {
				hits = append(hits, floorVerdict(e.id, e.what))
			}
		}
		hits = append(hits, s.floorOfFiles()...)
	}
	return hits
}

func (f *fold) floorOfPath(p string, write bool) []verdict {
	var hits []verdict
	use := useOf(p, write)
	for _, e := range floor {
		if e.path != nil && e.path(f, use) {
			hits = append(hits, floorVerdict(e.id, e.what))
		}
	}
	return hits
}

func floorVerdict(id, what string) verdict {
	v := verdict{action: Deny, hard: true, by: "floor " + id, source: "hardline", why: "it " + what + " (" + id + ")"}
	if id[0] == 'A' {
		v.action, v.source = Ask, ""
	}
	return v
}

// floorOfFiles looks at every file the command names.
func (s scene) floorOfFiles() []verdict {
	var hits []verdict
	for _, p := range slices.Concat(s.u.writes, s.written()) {
		hits = append(hits, s.f.floorOfPath(p, true)...)
	}
	reads := s.u.reads
	if s.name != "" && !talkers[s.name] {
		reads = slices.Concat(reads, s.named())
	}
	for _, p := range reads {
		hits = append(hits, s.f.floorOfPath(p, false)...)
	}
	return hits
}

// talkers take words, or show names and not contents.
var (
	talkers = wordSet("echo printf test [ ls touch true false cd mkdir basename dirname sleep")
	// everyOperand are written to; lastOperand only their target is.
	everyOperand = wordSet("rm rmdir unlink shred mv tee touch mkdir truncate chmod chown chgrp chattr setfacl patch mkfifo")
	lastOperand  = wordSet("cp ln install rsync")
	// viewers never write what they name.
	viewers = wordSet("cat head tail less more ls stat file wc grep egrep fgrep rg ag diff cmp du df find tree readlink realpath cd test [ " +
		"echo printf sha256sum sha1sum md5sum cksum strings od xxd hexdump jq cut sort uniq nl tr sed awk git go cd pushd basename dirname")
)

// named are the files among a command's words, resolved without links.
func (s scene) named() []string {
	var list []string
	for _, w := range s.words[1:] {
		for _, c := range append([]string{w}, pathCandidates(w)...) {
			if c != "" && !strings.HasPrefix(c, "-") {
				if p := resolve(s.u.dir, c); p != "" {
					list = append(list, p)
				}
			}
		}
	}
	return list
}

// written are the files that a command's operands say it writes.
func (s scene) written() []string {
	if s.name == "" {
		return nil
	}
	var targets []string
	operands := operandTexts(s.words)
	switch {
	case everyOperand[s.name] || (s.name == "sed" && writesFiles(s.words)):
		targets = operands
	case lastOperand[s.name] && len(operands) > 0:
		targets = operands[len(operands)-1:]
	}
	for i, w := range s.words[1:] {
		if v, ok := strings.CutPrefix(w, "of="); ok {
			targets = append(targets, v)
		}
		name, v, attached := strings.Cut(w, "=")
		if outputOptions[name] {
			if !attached && i+2 < len(s.words) {
				v = s.words[i+2]
			}
			targets = append(targets, v)
		}
	}
	for i, t := range targets {
		targets[i] = resolve(s.u.dir, t)
	}
	return targets
}

var outputOptions = wordSet("-o -O --output --output-document -t --target-directory -fprint -fprintf -fls -fprint0")

// has reports options in any spelling.
func (s scene) has(options ...string) bool {
	have, _ := splitOptions(s.words)
	return slices.ContainsFunc(options, func(o string) bool { return hasOption(have, s.words, glob{o}) })
}

// systemFolders belong to the system and its packages.
var systemFolders = strings.Fields("/etc /usr /bin /sbin /lib /lib32 /lib64 /libx32 /boot /sys /proc /dev /var /opt /srv /System /Library /Applications")

// notSystem are folders below them that programs use for passing data.
var notSystem = strings.Fields("/var/tmp /var/folders /dev/shm /dev/null /dev/stdin /dev/stdout /dev/stderr /dev/tty /dev/fd")

func (f *fold) system(p string) bool {
	in := func(folder string) bool { return within(folder, p) }
	if f.ownProject(p) || slices.ContainsFunc(notSystem, in) {
		return false
	}
	return slices.ContainsFunc(systemFolders, in)
}

// ownProject: a project may lie in a folder that is the system's otherwise,
// but a project that holds the home directory protects nothing.
func (f *fold) ownProject(p string) bool {
	return within(f.opt.Root, p) && !within(f.opt.Root, f.opt.Home)
}

// precious is what must not be removed as a whole: /, system folders, home
// directories and what holds them. A trailing /* means the folder.
func (f *fold) precious(p string) bool {
	p = path.Clean(strings.TrimSuffix(strings.TrimSuffix(p, "/.*"), "/*"))
	if p == "" || p == "." || p == "*" {
		p = "/"
	}
	parts := elements(p)
	someHome := len(parts) <= 2 && (parts[0] == "home" || parts[0] == "users") || p == "/root"
	return p == "/" || f.system(p) || (within(p, f.opt.Home) && f.opt.Home != "") || (someHome && !f.ownProject(p)) || (within(p, f.opt.Root) && p != f.opt.Root)
}

func deletesRoot(s scene) bool {
	precious := func(w string) bool {
		p := resolve(s.u.dir, w)
		return p != "" && s.f.precious(p)
	}
	switch s.name {
	case "rm":
		return s.has("-r", "--recursive") && slices.ContainsFunc(operandTexts(s.words), precious)
	case "mv":
		operands := operandTexts(s.words)
		return len(operands) > 1 && slices.ContainsFunc(operands[:len(operands)-1], precious)
	case "find":
		deletes := slices.Contains(s.words, "-delete") || (slices.Contains(s.words, "rm") && slices.ContainsFunc(s.words, func(w string) bool { return execOptions[w] }))
		start := operandTexts(s.words)
		return deletes && len(start) > 0 && precious(start[0])
	}
	return false
}

func formatsDisk(s scene) bool {
	if strings.HasPrefix(s.name, "mkfs") || diskTools[s.name] {
		return !s.has("-l", "--list", "--help")
	}
	return false
}

var (
	diskTools = wordSet("mke2fs mkswap wipefs blkdiscard fdisk sfdisk cfdisk sgdisk gdisk parted badblocks hdparm newfs")
	disks     = strings.Fields("/dev/sd /dev/hd /dev/vd /dev/xvd /dev/nvme /dev/mmcblk /dev/disk /dev/mapper /dev/dm- /dev/md /dev/loop /dev/sr /dev/rdisk /dev/mem /dev/kmem /dev/port")
)

func rawDevice(_ *fold, use fileUse) bool {
	return use.write && slices.ContainsFunc(disks, func(d string) bool { return strings.HasPrefix(use.path, d) })
}

var powerWords = wordSet("reboot poweroff halt kexec suspend hibernate hybrid-sleep rescue emergency soft-reboot exit")

func powersOff(s scene) bool {
	switch s.name {
	case "shutdown", "reboot", "halt", "poweroff":
		return true
	case "init", "telinit":
		return slices.Contains(s.words, "0") || slices.Contains(s.words, "6")
	case "systemctl":
		return slices.ContainsFunc(operandTexts(s.words), func(w string) bool { return powerWords[w] })
	}
	return false
}

func systemWrite(f *fold, use fileUse) bool { return use.write && f.system(use.path) }

func systemPermissions(s scene) bool {
	switch s.name {
	case "chmod", "chown", "chgrp", "setfacl", "chattr":
		return slices.ContainsFunc(operandTexts(s.words), func(w string) bool {
			p := resolve(s.u.dir, w)
			return path.IsAbs(p) && (s.f.system(p) || (s.has("-R", "--recursive") && s.f.precious(p)))
		})
	}
	return false
}

// credentials are stores below a home directory.
var credentials = pathPatterns(".ssh/* .gnupg/** .aws/credentials .aws/sso/** .aws/cli/** .azure/** .config/gcloud/** .kube/config " +
	".docker/config.json .netrc .git-credentials .config/git/credentials .config/gh/hosts.yml .npmrc .pypirc .cargo/credentials .cargo/credentials.toml " +
	".gem/credentials .config/op/** .password-store/** .local/share/keyrings/** Library/Keychains/** .vault-token .terraform.d/credentials.tfrc.json")

var (
	systemCredentials = pathPatterns("/etc/shadow /etc/gshadow /etc/shadow- /proc/*/environ /proc/*/task/*/environ /etc/ssh/ssh_host_*_key")
	// publicSSH may be read.
	publicSSH = pathPatterns(".ssh/*.pub .ssh/known_hosts .ssh/known_hosts.old .ssh/config .ssh/authorized_keys")
	someHomes = pathPatterns("/root /home/* /users/*")
)

func credentialStore(f *fold, use fileUse) bool {
	if !use.write && f.opt.State != "" && use.path == f.opt.State+"/config.json" {
		return true
	}
	if !f.credentialsInside && within(f.opt.Root, use.path) {
		return false
	}
	parts := use.parts
	if anyMatch(systemCredentials, parts) {
		return true
	}
	for _, home := range slices.Concat(someHomes, [][]string{elements(f.opt.Home)}) {
		if len(parts) > len(home) && mayMatch(home, parts[:len(home)]) && stored(parts[len(home):]) {
			return true
		}
	}
	return false
}

// mayHoldCredentials reports that credentialStore may find something below the
// project's root.
func mayHoldCredentials(opt *Options) bool {
	root := elements(opt.Root)
	if opt.Root == "" || opt.Root == "/" || within(opt.Root, opt.State) {
		return true
	}
	meets := func(pattern []string) bool {
		n := min(len(pattern), len(root))
		for i := range n {
			if pattern[i] == "**" {
				return true
			}
			if !mayBe(pattern[i], root[i]) {
				return false
			}
		}
		return true
	}
	if slices.ContainsFunc(systemCredentials, meets) {
		return true
	}
	for _, home := range append(slices.Clone(someHomes), elements(opt.Home)) {
		for _, c := range credentials {
			if meets(slices.Concat(home, c)) {
				return true
			}
		}
	}
	return false
}

// stored: a credential, or the folder that holds it.
func stored(p []string) bool {
	if anyMatch(publicSSH, p) {
		return false
	}
	return slices.ContainsFunc(credentials, func(c []string) bool {
		return mayMatch(c, p) || (len(c) > 1 && mayMatch(c[:len(c)-1], p))
	})
}

// metadataService finds the address in any spelling that resolvers take.
func metadataService(s scene) bool {
	return slices.ContainsFunc(s.words[1:], func(w string) bool {
		from, to := hostPart(w)
		host := w[from:to]
		if to == 0 {
			host, _, _ = strings.Cut(w, "/")
		}
		host = host[strings.LastIndexByte(host, '@')+1:]
		return metadataHost(strings.ToLower(host))
	})
}

func metadataHost(host string) bool {
	bare := strings.Trim(host, "[]")
	if addr, err := netip.ParseAddr(bare); err == nil {
		return metadataAddr(addr.Unmap())
	}
	if name, _, ok := strings.Cut(host, ":"); ok && !strings.HasPrefix(host, "[") {
		host = name
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	if host == "metadata.google.internal" || host == "metadata" || host == "instance-data" {
		return true
	}
	addr, ok := looseIPv4(host)
	return ok && metadataAddr(addr)
}

func metadataAddr(a netip.Addr) bool {
	return slices.Contains([]string{"169.254.169.254", "169.254.170.2", "100.100.100.200", "fd00:ec2::254"}, a.String())
}

// looseIPv4 reads one to four numbers, decimal, octal or hexadecimal, as the C
// library does.
func looseIPv4(host string) (netip.Addr, bool) {
	parts := strings.Split(host, ".")
	if host == "" || len(parts) > 4 {
		return netip.Addr{}, false
	}
	var value uint64
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 0, 32)
		if err != nil {
			return netip.Addr{}, false
		}
		if i == len(parts)-1 {
			value = value<<(8*(4-i)) | n
		} else {
			value = value<<8 | n&0xff
		}
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}

// askSelf are the commands of this program that change nothing.
var askSelf = wordSet("version help doctor completion --version --help -v -h")

func attacksSelf(s scene) bool {
	switch s.name {
	case "khaelor", "khaelord":
		return len(s.words) < 2 || !askSelf[s.words[1]]
	case "pkill", "killall", "skill":
		return strings.Contains(strings.ToLower(strings.Join(s.words[1:], " ")), "khaelor")
	case "kill":
		return len(s.words) > 2 && s.words[len(s.words)-1] == "-1"
	}
	if viewers[s.name] && !writesFiles(s.words) {
		return false
	}
	return slices.ContainsFunc(s.named(), func(p string) bool { return ownState(s.f, useOf(p, true)) })
}

func ownState(f *fold, use fileUse) bool {
	return use.write && (within(f.opt.State, use.path) || slices.Contains(use.parts, ".khaelor"))
}

func otherUser(s scene) bool { return userChangers[s.name] }

var userChangers = wordSet("sudo doas su pkexec run0 sudoedit machinectl")

// laterFiles are executed by other programs; they are matched at any depth.
var laterFiles = pathPatterns(".git/** .gitmodules .husky/** .vscode/** .idea/** .devcontainer/** .envrc .mcp.json .claude/** .cursor/** " +
	".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .config/fish/** .inputrc " +
	".config/systemd/user/** .config/autostart/** Library/LaunchAgents/** .ssh/** .gitconfig .config/git/** .vimrc .config/nvim/** .exrc " +
	".tmux.conf .local/bin/** .pam_environment .xprofile .xinitrc .npmrc .yarnrc .pypirc")

func executedLater(_ *fold, use fileUse) bool { return use.write && anyDepth(laterFiles, use.parts) }

func persists(s scene) bool {
	switch s.name {
	case "crontab":
		return !slices.Equal(s.words[1:], []string{"-l"})
	case "at", "batch", "launchctl", "update-rc.d", "chkconfig":
		return true
	case "systemctl":
		return slices.ContainsFunc(operandTexts(s.words), func(w string) bool { return w == "enable" || w == "link" || w == "edit" })
	case "git":
		return setsProgramKey(dropGlobalOptions(s.words))
	}
	return false
}

var harmlessEnv = strings.Fields(".env.example .env.sample .env.template .env.dist .env.schema")

func secretFile(_ *fold, use fileUse) bool {
	base := use.parts[len(use.parts)-1]
	if use.write || slices.Contains(harmlessEnv, base) {
		return false
	}
	return mayBe(".env", base) || (mayBe(".env.*", base) && strings.HasPrefix(base, "."))
}
