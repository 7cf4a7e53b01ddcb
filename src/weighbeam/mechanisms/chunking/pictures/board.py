"""Pictures of the standings: overlapping groups with who was asked, and what each place is paid."""

from collections.abc import Sequence

from weighbeam.charts.picture import ChartPicture
from weighbeam.charts.ranking import GroupRanges, PaidPlace, chart_groups, chart_pay
from weighbeam.charts.text import tame_text
from weighbeam.mechanism.page import StandingsBoard
from weighbeam.mechanisms.chunking.groups import form_groups
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.weigh import weigh_scores

MAX_PLACES = 17
"""As many as are above 0 on chain with a ratio of one half."""
MAX_ROWS = 200
LONGEST = 64


def draw_board(params: ChunkingParams, board: StandingsBoard) -> tuple[ChartPicture, ...]:
    """The groups that the next round would draw from, and what the standings would pay now."""
    pictures = []
    groups = find_groups(params, board)
    if len(groups.ranking) > 1:
        pictures.append(picture_groups(groups, board.round))
    places = list_places(params, board)
    if places:
        pictures.append(picture_pay(places, params.curve))
    return tuple(pictures)


def find_groups(params: ChunkingParams, board: StandingsBoard) -> GroupRanges:
    """Groups of those who can be asked, in the order of their standings."""
    ranking = tuple(line.hotkey for line in board.lines if line.registered)
    formed = form_groups(ranking, params.group_size, params.rank_values)
    chosen, count = board.summary.get("group"), board.summary.get("groups")
    same = isinstance(chosen, int) and count == len(formed.ranges)
    return GroupRanges(ranking, formed.ranges, frozenset(board.asked), chosen if same else None, board.names)


def picture_groups(groups: GroupRanges, round_id: str | None) -> ChartPicture:
    said = (
        "No miner has been asked yet."
        if round_id is None
        else f"Orange: asked in round {tame_text(round_id, LONGEST)}; blue: the group it asked."
    )
    rows = []
    for place, hotkey in enumerate(groups.ranking[:MAX_ROWS]):
        member = [str(number) for number, (start, stop) in enumerate(groups.ranges, 1) if start <= place < stop]
        rows.append(
            (
                place + 1,
                tame_text(groups.names.get(hotkey, hotkey), LONGEST),
                ", ".join(member),
                "yes" if hotkey in groups.asked else "no",
            )
        )
    return ChartPicture(
        "ranking-groups",
        "The groups of the ranking, and who was asked",
        f"A round asks one group of neighbours in the ranking; groups overlap by half. {said}",
        chart_groups(groups),
        ("rank", "miner", "groups", "asked"),
        tuple(rows),
    )


def list_places(params: ChunkingParams, board: StandingsBoard, limit: int = MAX_PLACES) -> list[PaidPlace]:
    """Those who would be paid, best first: equals share, so they may stand beside the curve."""
    lines = [line for line in board.lines if line.standing is not None and line.standing >= 0 and line.registered]
    raw = weigh_scores({line.hotkey: line.standing for line in lines}, None, params.curve)
    whole = sum(raw.values())
    order = sorted(lines, key=lambda line: (line.standing or 0.0, line.hotkey))
    return [
        PaidPlace(
            place=place,
            hotkey=line.hotkey,
            share=raw[line.hotkey] / whole,
            curve=params.curve ** (place - 1) / whole,
            name=board.names.get(line.hotkey, ""),
        )
        for place, line in enumerate(order[:limit], 1)
    ]


def picture_pay(places: Sequence[PaidPlace], curve: float) -> ChartPicture:
    return ChartPicture(
        "incentive-curve",
        "Pay of each place",
        f"Each place gets {curve:g} times the one before it; equals share. By the standings as they are now.",
        chart_pay(places),
        ("place", "miner", "share", "share of the place"),
        tuple((one.place, tame_text(one.name or one.hotkey, LONGEST), one.share, one.curve) for one in places),
    )
