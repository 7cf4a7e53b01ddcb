"""Which IP addresses are on the public internet; only those are dialled when a stranger names them."""

import ipaddress

GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
NEVER_IPV4 = tuple(
    ipaddress.IPv4Network(block)
    for block in (
        "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 "
        "192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4"
    ).split()
)
NEVER_IPV6 = tuple(
    ipaddress.IPv6Network(block)
    for block in (
        "::/96 ::ffff:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20 "
        "5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8"
    ).split()
)


def is_public(address: str) -> bool:
    """Whether an address is global unicast, and not an IPv6 form that embeds another address.

    >>> [is_public(a) for a in ("8.8.8.8", "2606:4700::1111", "127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::808:808", "8.8")]
    [True, True, False, False, False, False]
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv4Address):
        return ip.is_global and not any(ip in block for block in NEVER_IPV4)
    inside = ip.scope_id is None and ip in GLOBAL_UNICAST
    return inside and ip.is_global and not any(ip in block for block in NEVER_IPV6)
