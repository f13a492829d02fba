"""Which addresses are out on the internet, and which lead back in.

`ipaddress.is_global` alone is not enough: it lets pass what carries an IPv4 address inside, and what is global unicast by
format only. Sources: IANA IPv4 and IPv6 special-purpose address registries; RFC 6052 (NAT64), RFC 4291, section 2.4.
"""

from __future__ import annotations

import ipaddress

_UNICAST = ipaddress.IPv6Network("2000::/3")
"""All that IANA gives out as global unicast; unique local, link-local, site-local and multicast lie outside."""

_TUNNELS = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # Teredo, ORCHID and other protocol assignments
        "2001:db8::/32",
        "2002::/16",  # 6to4: the next four bytes are an IPv4 address
        "3fff::/20",
    )
)
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")
"""NAT64: the last four bytes are the IPv4 address that is reached. Where only IPv6 is spoken, everything else is behind it."""


def is_public(address: str) -> bool:
    """Whether a numeric address, as a resolver gives it, is one of the internet's."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv4Address):
        return _is_public_four(parsed)
    if parsed.ipv4_mapped is not None:
        return _is_public_four(parsed.ipv4_mapped)
    if parsed in _TRANSLATED:
        return _is_public_four(ipaddress.IPv4Address(int(parsed) & 0xFFFF_FFFF))
    return parsed in _UNICAST and parsed.is_global and not any(parsed in tunnel for tunnel in _TUNNELS)


def _is_public_four(address: ipaddress.IPv4Address) -> bool:
    return address.is_global and not address.is_multicast
