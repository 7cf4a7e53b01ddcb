"""Which part of a journal is compared: from a round or a time on, up to a round or a time."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from weighbeam.core.errors import WeighbeamError


@dataclass(frozen=True, slots=True)
class Edge:
    """A round by its name, or a time in seconds of UTC."""

    ref: str | None = None
    at: float | None = None

    def is_reached(self, ref: str, at: float) -> bool:
        return ref == self.ref or (self.at is not None and at >= self.at)


@dataclass(frozen=True, slots=True)
class Window:
    """Other terms hold from `start` on; nothing after `end` is read."""

    start: Edge | None = None
    end: Edge | None = None

    def list_refs(self) -> set[str]:
        """Rounds that are named, and so must be there."""
        return {edge.ref for edge in (self.start, self.end) if edge is not None and edge.ref is not None}

    def begins(self, ref: str, at: float) -> bool:
        return self.start is None or self.start.is_reached(ref, at)

    def ends_before(self, at: float) -> bool:
        return self.end is not None and self.end.at is not None and at > self.end.at

    def ends_with(self, ref: str) -> bool:
        return self.end is not None and ref == self.end.ref


def parse_edge(text: str | None) -> Edge | None:
    """
    >>> parse_edge("1800000000"), parse_edge("2027-01-15T08:00Z"), parse_edge("chunking-20-ab12cd34")
    (Edge(ref=None, at=1800000000.0), Edge(ref=None, at=1800000000.0), Edge(ref='chunking-20-ab12cd34', at=None))
    """
    if text is None:
        return None
    if text.replace(".", "", 1).isdecimal():
        return Edge(at=float(text))
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return Edge(ref=text)
    return Edge(at=(read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp())


def check_edges(window: Window, met: Collection[str], only: str | None) -> None:
    """An edge that nothing is at would be no edge: a round that is not there, a time that is none."""
    for option, edge in (("--from", window.start), ("--until", window.end)):
        if edge is not None and edge.ref is not None and edge.ref not in met:
            whose = "the journal" if only is None else f"what the journal holds of {only}"
            told = f"{option} {edge.ref}: {whose} has no such round, and it is not a time"
            remedy = "name a round (see weighbeam journal rounds) or a time: 2027-01-15, 2027-01-15T08:00Z, or seconds"
            raise WeighbeamError("empty_window", told, remedy)


def refuse_unmet(window: Window) -> WeighbeamError:
    """Nothing of the journal lies in the window."""
    shown = ", ".join(
        f"{name} {edge.ref or edge.at}" for name, edge in (("from", window.start), ("until", window.end)) if edge
    )
    return WeighbeamError(
        "empty_window", f"the journal holds nothing {shown}", "see weighbeam journal rounds for what it holds"
    )
