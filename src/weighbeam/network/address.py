"""Which addresses may be dialled: endpoints come from strangers, so only global unicast unless told otherwise."""

import asyncio
import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from weighbeam.core.errors import WeighbeamError


@dataclass(frozen=True, slots=True)
class Dialled:
    """An endpoint resolved once: `url` names the checked address, `host` is what the certificate must say."""

    url: str
    host: str
    address: str
    port: int


async def resolve_endpoint(endpoint: str, allow_private: bool) -> Dialled:
    """The one address an endpoint stands for; `bad_address` if any of its addresses may not be dialled."""
    try:
        parts = urlsplit(endpoint if "://" in endpoint else f"http://{endpoint}")
        host, port = parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        raise _bad(endpoint) from None
    plain = not parts.path.strip("/") and not parts.query and not parts.username
    if not host or not host.isascii() or parts.scheme not in ("http", "https") or not plain or not 1 <= port <= 65535:
        raise _bad(endpoint)
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise _bad(endpoint) from None
    addresses = [str(entry[4][0]) for entry in found]
    if not addresses or not (allow_private or all(map(is_global, addresses))):
        raise _bad(endpoint)
    first = addresses[0]
    shown = f"[{first}]" if ":" in first else first
    return Dialled(f"{parts.scheme}://{shown}:{port}", host, first, port)


def is_global(address: str) -> bool:
    """Global unicast, and no IPv6 form that hides another IPv4 address.

    >>> is_global("8.8.8.8"), is_global("127.0.0.1"), is_global("::ffff:10.0.0.1")
    (True, False, False)
    """
    ip = ipaddress.ip_address(address)
    hidden = isinstance(ip, ipaddress.IPv6Address) and (ip.ipv4_mapped or ip.sixtofour or ip.teredo)
    return ip.is_global and not ip.is_multicast and not hidden


def _bad(endpoint: str) -> WeighbeamError:
    return WeighbeamError("bad_address", f"{endpoint!r} may not be asked", "announce a public host and port")
