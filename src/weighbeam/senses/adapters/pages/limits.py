"""Every cap on reading pages, in one place (spec/evidence § 13)."""

from dataclasses import dataclass

HTML = frozenset({"text/html", "application/xhtml+xml"})
TEXT = HTML | {"text/plain"}


@dataclass(frozen=True, slots=True)
class PageLimits:
    """Caps of one read. `read_seconds` covers all hops; waiting for one's turn is not counted, but in `all_seconds`,
    which ends everything that was asked for at once."""

    read_seconds: float = 20.0
    connect_seconds: float = 5.0
    wire_bytes: int = 3 << 20
    body_bytes: int = 8 << 20
    header_bytes: int = 32 << 10
    redirects: int = 5
    reads: int = 16
    per_domain: int = 2
    host_gap_seconds: float = 1.0
    all_seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class ParserLimits:
    """Caps of one parse. `wall_seconds` ends a parser that waits instead of working."""

    cpu_seconds: int = 5
    wall_seconds: float = 15.0
    memory_bytes: int = 512 << 20
    depth: int = 512
    nodes: int = 300_000
    characters: int = 1_000_000
