"""Two charts of a ranking: its overlapping groups, and what each place is paid."""

import copy
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from weighbeam.charts.picture import BLUE, GREY, ORANGE, choose_ticks, fill_params, finish_frame
from weighbeam.charts.text import shorten_hotkey, tame_text

NAME, LONGEST_NAME = 8, 18
MAX_NAMED = 40
ROW, LEAST_ROW, MAX_HEIGHT = 20, 2, 560
ASKED = "asked"
WIDEST_GROUP = 60
CURVE_HEIGHT = 280
ROOM_ABOVE = 0.27
"""Of the height, above the highest point, for its name."""

ROOM_RIGHT = 0.22
"""Of the places, right of the last, for its name."""


@dataclass(frozen=True, slots=True)
class GroupRanges:
    """A ranking, best first, and its groups as ranges [start, stop) of it. `asked` are those whom a round asked.

    `chosen` is the group it asked, if that is still one of these; `names` are what miners are called.
    """

    ranking: tuple[str, ...]
    ranges: tuple[tuple[int, int], ...]
    asked: Collection[str] = ()
    chosen: int | None = None
    names: Mapping[str, str] = field(default_factory=dict)

    def label(self, hotkey: str) -> str:
        return label_miner(hotkey, self.names.get(hotkey))


@dataclass(frozen=True, slots=True)
class PaidPlace:
    """A miner at its place, which counts from 1: the share it gets, and the one that the curve gives to the place."""

    place: int
    hotkey: str
    share: float
    curve: float
    name: str = ""

    @property
    def label(self) -> str:
        return label_miner(self.hotkey, self.name)


def label_miner(hotkey: str, name: str | None) -> str:
    """
    >>> label_miner("5F3sa2TJAWMqDhXG6jhV4N8k", "ada"), label_miner("5F3sa2TJAWMqDhXG6jhV4N8k", None)
    ('ada', '5F3sa2TJ')
    """
    return tame_text(name, LONGEST_NAME) if name else shorten_hotkey(hotkey, NAME)


def chart_groups(groups: GroupRanges) -> dict[str, Any]:
    """A column for each group, from its first to its last rank, and a point at everyone who was asked."""
    count = len(groups.ranking)
    spec = copy.deepcopy(_groups_frame())
    named = count <= MAX_NAMED
    spec["height"] = min(MAX_HEIGHT, ROW * count) if named else max(360, min(MAX_HEIGHT, LEAST_ROW * count))
    fill_params(spec, names=[groups.label(hotkey) for hotkey in groups.ranking] if named else [])
    columns = [ASKED, *(str(number) for number in range(1, len(groups.ranges) + 1))]
    ticks = [at + 0.5 for at in (range(count) if named else _pick_ranks(count))]
    for layer in spec["layer"]:
        layer["encoding"]["x"]["scale"] = {"domain": columns, "paddingInner": 0.25}
        layer["encoding"]["y"]["scale"]["domain"] = [0, count]
        layer["encoding"]["y"]["axis"]["values"] = ticks
    spec["datasets"] = {
        "groups": [
            {"group": str(number), "start": start, "stop": stop, "first": start + 1, "is": _name_group(groups, number)}
            for number, (start, stop) in enumerate(groups.ranges, 1)
        ],
        "asked": [
            {"group": ASKED, "at": place + 0.5, "rank": place + 1, "miner": groups.label(hotkey)}
            for place, hotkey in enumerate(groups.ranking)
            if hotkey in groups.asked
        ],
    }
    return spec


def _name_group(groups: GroupRanges, number: int) -> str:
    return "asked" if groups.chosen == number - 1 else "not asked"


def _pick_ranks(count: int) -> list[int]:
    """Ranks to be numbered where there is no room for names, the first and the last among them; they count from 0.

    >>> _pick_ranks(100)
    [0, 19, 39, 59, 79, 99]
    """
    inner = [int(tick) - 1 for tick in choose_ticks(0, count) if 0 < tick < 0.96 * count]
    return [0, *inner, count - 1]


@cache
def _groups_frame() -> dict[str, Any]:
    import altair as alt

    names = alt.Axis(
        title=None, values=[], ticks=False, domain=False, grid=False, labelOverlap=False, labelFontSize=11,
        labelExpr="(floor(datum.value) + 1) + (length(names) ? ' · ' + names[floor(datum.value)] : '')",
    )  # fmt: skip
    scale: dict[str, Any] = {"domain": [0, 1], "nice": False, "zero": False, "reverse": True}
    x = alt.X(
        "group:N", sort=None, axis=alt.Axis(title="groups", orient="top", labelAngle=0, domain=False, ticks=False)
    )
    colours = alt.Scale(domain=["asked", "not asked"], range=[BLUE, GREY])
    bars = (
        alt.Chart(alt.NamedData("groups"))
        .mark_bar(cornerRadius=4, opacity=0.6, width={"expr": f"min({WIDEST_GROUP}, bandwidth('x'))"})
        .encode(
            x=x,
            y=alt.Y("start:Q", scale=alt.Scale(**scale), axis=names),
            y2="stop:Q",
            color=alt.Color("is:N", scale=colours, legend=None),
            tooltip=["group:N", alt.Tooltip("first:Q", title="from rank"), alt.Tooltip("stop:Q", title="to rank")],
        )
    )
    points = (
        alt.Chart(alt.NamedData("asked"))
        .mark_point(filled=True, size=70, color=ORANGE, opacity=1)
        .encode(
            x=x,
            y=alt.Y("at:Q", scale=alt.Scale(**scale), axis=names),
            tooltip=["miner:N", alt.Tooltip("rank:Q", title="rank")],
        )
    )
    chart = alt.layer(bars, points).add_params(alt.param(name="names", value=[])).properties(width="container")
    return finish_frame(chart)


def chart_pay(places: Sequence[PaidPlace]) -> dict[str, Any]:
    """The curve over the places, and everybody on it: who shares a place with others stands beside it."""
    spec = copy.deepcopy(_pay_frame())
    highest = max((max(one.share, one.curve) for one in places), default=1.0)
    for layer in spec["layer"]:
        layer["encoding"]["y"]["scale"]["domain"] = [0, highest / (1 - ROOM_ABOVE)]
        layer["encoding"]["y"]["axis"]["values"] = choose_ticks(0, highest, 5)
        layer["encoding"]["x"]["scale"]["domain"] = [0.5, 0.5 + len(places) * (1 + ROOM_RIGHT)]
        layer["encoding"]["x"]["axis"]["values"] = [one.place for one in places]
    spec["datasets"] = {
        "places": [
            {
                "place": one.place,
                "share": one.share,
                "curve": one.curve,
                "miner": one.label,
                "shown": f"{one.label}  {format_share(one.share)}",
            }
            for one in places
        ]
    }
    return spec


def format_share(share: float) -> str:
    """
    >>> format_share(0.5), format_share(0.0312), format_share(0.00001), format_share(0.0)
    ('50.0 %', '3.12 %', '<0.01 %', '0 %')
    """
    if share == 0 or share >= 0.0001:
        return f"{100 * share:.{0 if share == 0 else 1 if share >= 0.1 else 2}f} %"
    return "<0.01 %"


@cache
def _pay_frame() -> dict[str, Any]:
    import altair as alt

    base = alt.Chart(alt.NamedData("places"))
    x = alt.X(
        "place:Q",
        scale=alt.Scale(domain=[0, 1], nice=False, zero=False),
        axis=alt.Axis(title="place in the ranking", grid=False, format="d", labelOverlap=True),
    )
    scale: dict[str, Any] = {"domain": [0, 1], "nice": False}
    axis = alt.Axis(title="share of the weights", format=".0%")
    line = base.mark_line(color=GREY, strokeWidth=2, interpolate="monotone").encode(
        x=x, y=alt.Y("curve:Q", scale=alt.Scale(**scale), axis=axis)
    )
    told = [alt.Tooltip("miner:N"), alt.Tooltip("place:Q"), alt.Tooltip("share:Q", format=".4%")]
    y = alt.Y("share:Q", scale=alt.Scale(**scale), axis=axis)
    points = base.mark_point(filled=True, size=60, color=BLUE, opacity=1).encode(x=x, y=y, tooltip=told)
    names = base.mark_text(align="left", baseline="middle", angle=310, dx=8, dy=-2, fontSize=11).encode(
        x=x, y=y, text="shown:N"
    )
    return finish_frame(alt.layer(line, points, names).properties(width="container", height=CURVE_HEIGHT))
