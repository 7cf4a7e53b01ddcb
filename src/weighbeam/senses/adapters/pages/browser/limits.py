"""Every cap on rendering a page, in one place."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RenderLimits:
    """Caps of one rendering. `seconds` is its share of the read's wall clock at most; `settle_seconds` are given, from
    the start, to what the page still wants to do; `all_seconds` come on top of the plain reader's, so that the worst
    pages of a whole round leave the others their turn. Memory: what one process may write to, and what all hold."""

    browsers: int = 3
    seconds: float = 12.0
    settle_seconds: float = 6.0
    page_seconds: float = 3.0
    all_seconds: float = 40.0
    requests: int = 60
    sheets: int = 60
    part_bytes: int = 4 << 20
    total_bytes: int = 16 << 20
    events: int = 5_000
    message_bytes: int = 32 << 20
    heard_bytes: int = 128 << 20
    process_bytes: int = 1 << 30
    memory_bytes: int = 1 << 30
    file_bytes: int = 256 << 20
    script_megabytes: int = 256
    nodes: int = 300_000
    characters: int = 6_000_000
