"""Hosts (spec § 4): one spelling each, whatever case, width, dots or script they were written in."""

import re
from dataclasses import dataclass
from ipaddress import IPv6Address

import idna
import idna.uts46data  # loaded here, because idna would open the file at the first host that is not ASCII

MOST_CHARACTERS = 253
NUMERIC = re.compile(r"[0-9]+|0x[0-9a-f]+")
ZEROS = re.compile(r"(?:^|:)0(?::0)+(?::|$)")


@dataclass(frozen=True, slots=True)
class Host:
    """A canonical host, and whether it is an IP literal."""

    name: str
    address: bool = False


def read_host(text: str) -> Host | None:
    """The canonical host, or None if the text is none.

    >>> [read_host(text).name for text in ("EXAMPLE。com.", "münchen.de", "[::FFFF:127.0.0.1]")]
    ['example.com', 'xn--mnchen-3ya.de', '[::ffff:7f00:1]']
    >>> read_host("127.1").address, read_host("a_b.com")
    (True, None)
    """
    if text.startswith("["):
        return _read_bracketed(text)
    try:
        name = idna.encode(text, uts46=True, std3_rules=True).decode("ascii").lower().removesuffix(".")
    except UnicodeError:
        return None
    if not name or len(name) > MOST_CHARACTERS:
        return None
    return Host(name, NUMERIC.fullmatch(name.rpartition(".")[2]) is not None)


def _read_bracketed(text: str) -> Host | None:
    try:
        return Host(f"[{_shorten(IPv6Address(text[1:-1]))}]", True) if text.endswith("]") else None
    except ValueError:
        return None


def _shorten(address: IPv6Address) -> str:
    """RFC 5952 in hex throughout; later versions of the library write mapped addresses otherwise."""
    groups = ":".join(f"{address.packed[i] << 8 | address.packed[i + 1]:x}" for i in range(0, 16, 2))
    longest = max(ZEROS.findall(groups), key=lambda run: run.count("0"), default=None)
    return groups if longest is None else groups.replace(longest, "::", 1)
