"""The stacked shares of confirmed weights as a small picture, drawn here so that it needs no program in the browser."""

from dataclasses import dataclass
from itertools import pairwise

from weighbeam.engine.views.earnings import ConfirmedVector, Earnings
from weighbeam.engine.views.names import NameBook
from weighbeam.service.pages.formats import format_percent, format_time

WIDTH, HEIGHT = 300.0, 72.0
OTHERS = "all others"
REST = "rest"
LEAST_WIDTH = 1.5


@dataclass(frozen=True, slots=True)
class EarnedStripe:
    """A rectangle: one miner's share of one vector, for as long as that was in force."""

    x: float
    y: float
    width: float
    height: float
    hue: str
    title: str


@dataclass(frozen=True, slots=True)
class EarnedLine:
    """A line of the legend; `hotkey` is None for all others together."""

    hotkey: str | None
    share: float
    hue: str


@dataclass(frozen=True, slots=True)
class EarnedPicture:
    stripes: tuple[EarnedStripe, ...]
    legend: tuple[EarnedLine, ...]
    vectors: int
    since: float
    until: float
    width: float = WIDTH
    height: float = HEIGHT


def draw_earnings(earnings: Earnings, book: NameBook) -> EarnedPicture | None:
    """Each vector is as wide as it was in force, the newest as wide as the others on average; None without any."""
    if earnings.last is None:
        return None
    hues = {hotkey: str(place) for place, hotkey in enumerate(earnings.earners)}
    names = {hotkey: book.find(hotkey, earnings.mechanism).label for hotkey in earnings.earners}
    stripes: list[EarnedStripe] = []
    x = 0.0
    for vector, width in zip(earnings.vectors, _list_widths(earnings.vectors), strict=True):
        stripes += _draw_vector(vector, x, width, hues, names)
        x += width
    shares = earnings.last.shares
    legend = [EarnedLine(hotkey, shares.get(hotkey, 0.0), hue) for hotkey, hue in hues.items()]
    legend.sort(key=lambda line: -line.share)
    rest = 1.0 - sum(line.share for line in legend)
    if len(shares.keys() - hues.keys()) > 0:
        legend.append(EarnedLine(None, max(0.0, rest), REST))
    first, last = earnings.vectors[0].at, earnings.last.at
    return EarnedPicture(tuple(stripes), tuple(legend), len(earnings.vectors), first, last)


def _list_widths(vectors: tuple[ConfirmedVector, ...]) -> list[float]:
    """They fill the picture; a clock that was set back makes no negative ones."""
    spans = [max(0.0, later.at - one.at) for one, later in pairwise(vectors)]
    spans.append(sum(spans) / len(spans) if spans else 1.0)
    whole = sum(spans)
    if whole <= 0:
        return [WIDTH / len(vectors)] * len(vectors)
    raised = [max(LEAST_WIDTH, WIDTH * span / whole) for span in spans]
    return [WIDTH * width / sum(raised) for width in raised]


def _draw_vector(
    vector: ConfirmedVector, x: float, width: float, hues: dict[str, str], names: dict[str, str]
) -> list[EarnedStripe]:
    when, stripes, y = format_time(vector.at), [], HEIGHT
    parts = [(names[hotkey], vector.shares.get(hotkey, 0.0), hue) for hotkey, hue in hues.items()]
    parts.append((OTHERS, 1.0 - sum(share for _, share, _ in parts), REST))
    for name, share, hue in parts:
        height = HEIGHT * share
        if height > 0.01:
            y -= height
            title = f"{name}: {format_percent(share)} since {when}"
            stripes.append(
                EarnedStripe(round(x, 2), round(max(0.0, y), 2), round(width, 2), round(height, 2), hue, title)
            )
    return stripes
