package web

import (
	"net/netip"
	"slices"
	"strings"
)

// An address is fetched from when it is in one of these and in none of
// reserved. What stands for an IPv4 address is judged as that.
func public() []netip.Prefix {
	return prefixes("0.0.0.0/0", "2000::/3")
}

// reserved are the special-purpose registries of IANA, with clouds' own
// addresses that are not in them.
func reserved() []netip.Prefix {
	return prefixes(
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
		"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"2001::/23",     // protocols, with Teredo, which embeds IPv4
		"2001:db8::/32", // documentation
		"2002::/16",     // 6to4, which embeds IPv4; nobody runs a relay any more
		"3fff::/20",     // documentation
		"168.63.129.16/32",
	)
}

// metadata are where clouds tell a machine its own credentials.
func metadata() []netip.Prefix {
	return prefixes("169.254.0.0/16", "fe80::/10", "fd00:ec2::/32", "fd20:ce::/32", "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32")
}

func prefixes(list ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(list))
	for i, p := range list {
		all[i] = netip.MustParsePrefix(p)
	}
	return all
}

func within(a netip.Addr, list []netip.Prefix) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(a) })
}

// plain is the address that an IPv6 one stands for, where it is only a way to
// write or to reach an IPv4 one.
func plain(a netip.Addr) netip.Addr {
	a = a.Unmap()
	if netip.MustParsePrefix("64:ff9b::/96").Contains(a) { // NAT64
		b := a.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return a
}

// mayDial says whether an address is one of the open net. The addresses of a
// host that the user listed may be private, but no name leads to credentials.
func mayDial(a netip.Addr, host string, listed bool) bool {
	a = plain(a)
	switch {
	case a.Zone() != "":
		return false
	case listed:
		return !within(a, metadata()) || a.String() == host
	}
	return within(a, public()) && !within(a, reserved())
}

// insideName says that a name means something only inside a network.
func insideName(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	return !strings.Contains(host, ".") || slices.ContainsFunc(
		[]string{".localhost", ".local", ".internal", ".intranet", ".lan", ".home.arpa"},
		func(suffix string) bool { return strings.HasSuffix(host, suffix) })
}
