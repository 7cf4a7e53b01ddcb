"""Addresses that may be dialled: endpoints are resolved on threads, and only global unicast passes unless allowed."""

import asyncio
import ipaddress
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from urllib.parse import urlsplit

from weighbeam.core.addresses import is_public
from weighbeam.core.errors import WeighbeamError

THREADS = 32
RESOLVERS = ThreadPoolExecutor(THREADS, "resolve")


async def look_up_host(host: str, port: int, seconds: float) -> list[str]:
    """Resolve a host to addresses. A look-up that never began is our own fault: `resolver_busy`.

    >>> asyncio.run(look_up_host("192.0.2.1", 80, 1.0))
    ['192.0.2.1']
    """
    try:
        return [str(ipaddress.ip_address(host.partition("%")[0]))]
    except ValueError:
        pass
    begun: list[bool] = []

    def ask_system() -> list[str]:
        begun.append(True)
        return [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]

    asked = asyncio.get_running_loop().run_in_executor(RESOLVERS, ask_system)
    try:
        async with asyncio.timeout(seconds):
            return await asked
    except TimeoutError:
        if begun:
            raise
        raise WeighbeamError(
            "resolver_busy",
            f"{host!r} waited too long for this machine's DNS resolver",
            "check this machine's DNS resolver",
        ) from None


RESOLVE_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class ResolvedEndpoint:
    """An endpoint resolved once: `url` names the checked address, `host` is what the certificate must say."""

    url: str
    host: str
    address: str
    port: int


@dataclass(frozen=True, slots=True)
class EndpointAddress:
    """An endpoint as announced."""

    scheme: str
    host: str
    port: int


def parse_endpoint(endpoint: str) -> EndpointAddress:
    """The parts of `host:port` or `http(s)://host:port`; `bad_address` otherwise.

    >>> parse_endpoint("miner.example:8091")
    EndpointAddress(scheme='http', host='miner.example', port=8091)
    """
    try:
        parts = urlsplit(endpoint if "://" in endpoint else f"http://{endpoint}")
        host, port = parts.hostname, parts.port
    except ValueError:
        raise _make_address_error(endpoint) from None
    if port is None:
        port = 443 if parts.scheme == "https" else 80
    plain = not parts.path.strip("/") and not parts.query and not parts.fragment and "@" not in parts.netloc
    if not host or not host.isascii() or parts.scheme not in ("http", "https") or not plain or not 1 <= port <= 65535:
        raise _make_address_error(endpoint)
    return EndpointAddress(parts.scheme, host, port)


async def resolve_endpoint(
    endpoint: str, allow_private: bool, own_address: str | None = None, seconds: float = RESOLVE_SECONDS
) -> ResolvedEndpoint:
    """The one address an endpoint stands for; `bad_address` if any of its addresses may not be dialled or it is ours,
    `resolve` if its name leads nowhere."""
    place = parse_endpoint(endpoint)
    try:
        addresses = await look_up_host(place.host, place.port, seconds)
    except UnicodeError:
        raise _make_address_error(endpoint) from None
    except TimeoutError:
        raise WeighbeamError(
            "resolve", f"{endpoint!r} did not resolve in time", "announce an address that resolves"
        ) from None
    except OSError as fault:
        raise WeighbeamError(
            "resolve", f"{endpoint!r} does not resolve: {fault}", "announce an address that resolves"
        ) from None
    if not addresses or not (allow_private or all(map(is_global, addresses))):
        raise _make_address_error(endpoint)
    first = addresses[0]
    if own_address is not None and (plain_ip(first), place.port) == parse_own_address(own_address):
        raise _make_address_error(endpoint)
    shown = f"[{first}]" if ":" in first else first
    return ResolvedEndpoint(f"{place.scheme}://{shown}:{place.port}", place.host, first, place.port)


def parse_own_address(text: str) -> tuple[str, int]:
    """Our own IP address and port, at which no miner is asked.

    >>> parse_own_address("192.0.2.1:8091")
    ('192.0.2.1', 8091)
    """
    try:
        place = parse_endpoint(text)
        return plain_ip(place.host), place.port
    except (WeighbeamError, ValueError):
        raise WeighbeamError(
            "bad_own_address", f"{text!r} is not an address with a port", "write 192.0.2.1:8091"
        ) from None


def plain_ip(address: str) -> str:
    """Normalise an address to one spelling.

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


def _make_address_error(endpoint: str) -> WeighbeamError:
    return WeighbeamError("bad_address", f"{endpoint!r} is not a public address", "announce a public host and port")
