"""Which addresses may be dialled: endpoints come from strangers, so only global unicast unless told otherwise."""

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from weighbeam.core.addresses import is_public
from weighbeam.core.errors import WeighbeamError
from weighbeam.network.resolve import look_up

RESOLVE_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Dialled:
    """An endpoint resolved once: `url` names the checked address, `host` is what the certificate must say."""

    url: str
    host: str
    address: str
    port: int


@dataclass(frozen=True, slots=True)
class Place:
    """An endpoint as it is written."""

    scheme: str
    host: str
    port: int


def read_endpoint(endpoint: str) -> Place:
    """The parts of `host:port` or `http(s)://host:port`; `bad_address` if it says anything else.

    >>> read_endpoint("miner.example:8091")
    Place(scheme='http', host='miner.example', port=8091)
    """
    try:
        parts = urlsplit(endpoint if "://" in endpoint else f"http://{endpoint}")
        host, port = parts.hostname, parts.port
    except ValueError:
        raise _bad(endpoint) from None
    if port is None:
        port = 443 if parts.scheme == "https" else 80
    plain = not parts.path.strip("/") and not parts.query and not parts.fragment and "@" not in parts.netloc
    if not host or not host.isascii() or parts.scheme not in ("http", "https") or not plain or not 1 <= port <= 65535:
        raise _bad(endpoint)
    return Place(parts.scheme, host, port)


async def resolve_endpoint(
    endpoint: str, allow_private: bool, own_address: str | None = None, seconds: float = RESOLVE_SECONDS
) -> Dialled:
    """The one address an endpoint stands for; `bad_address` if any of its addresses may not be dialled or it is ours,
    `resolve` if its name leads nowhere."""
    place = read_endpoint(endpoint)
    try:
        addresses = await look_up(place.host, place.port, seconds)
    except UnicodeError:
        raise _bad(endpoint) from None
    except TimeoutError:
        raise WeighbeamError("resolve", f"{endpoint!r} was not found in time", "announce an address") from None
    except OSError as fault:
        raise WeighbeamError("resolve", f"{endpoint!r} has no address: {fault}", "announce an address") from None
    if not addresses or not (allow_private or all(map(is_global, addresses))):
        raise _bad(endpoint)
    first = addresses[0]
    if own_address is not None and (plain_ip(first), place.port) == read_own_address(own_address):
        raise _bad(endpoint)
    shown = f"[{first}]" if ":" in first else first
    return Dialled(f"{place.scheme}://{shown}:{place.port}", place.host, first, place.port)


def read_own_address(text: str) -> tuple[str, int]:
    """Our own IP address and port, at which no miner is asked.

    >>> read_own_address("192.0.2.1:8091")
    ('192.0.2.1', 8091)
    """
    try:
        place = read_endpoint(text)
        return plain_ip(place.host), place.port
    except (WeighbeamError, ValueError):
        raise WeighbeamError("bad_own_address", f"{text!r} is no address and port", "write 192.0.2.1:8091") from None


def plain_ip(address: str) -> str:
    """One spelling per address.

    >>> plain_ip("::FFFF:192.0.2.1"), plain_ip("2001:db8:0::1")
    ('192.0.2.1', '2001:db8::1')
    """
    ip = ipaddress.ip_address(address.partition("%")[0])
    return str(ip.ipv4_mapped or ip) if isinstance(ip, ipaddress.IPv6Address) else str(ip)


def is_global(address: str) -> bool:
    """Global unicast, and no IPv6 form that hides another IPv4 address.

    >>> is_global("8.8.8.8"), is_global("127.0.0.1"), is_global("::ffff:10.0.0.1")
    (True, False, False)
    """
    return is_public(address)


def _bad(endpoint: str) -> WeighbeamError:
    return WeighbeamError("bad_address", f"{endpoint!r} may not be asked", "announce a public host and port")
