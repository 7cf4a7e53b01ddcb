"""The first page: who earns what, whether weights land, what is wrong now, and which attacks were stopped."""

from collections.abc import Sequence
from typing import Any

from weighbeam.charts.dashboard import chart_hours
from weighbeam.engine.alerts.alerts import find_remedy
from weighbeam.engine.alerts.notices import Notice
from weighbeam.engine.views.earnings import Earnings, select_earnings
from weighbeam.engine.views.names import NameBook
from weighbeam.engine.views.overview import (
    HOUR_SECONDS,
    HourCount,
    MechanismView,
    Overview,
    count_hours,
    select_overview,
)
from weighbeam.engine.views.rounds import list_rounds
from weighbeam.engine.views.stopped import StoppedAttack, select_stopped
from weighbeam.engine.views.weights import list_weights
from weighbeam.engine.weights.audit import AuditLine
from weighbeam.engine.weights.metagraphs import select_metagraph
from weighbeam.service.http.redaction import redact_overview
from weighbeam.service.pages.earned_picture import draw_earnings
from weighbeam.service.pages.page_data import PageData
from weighbeam.service.pages.rendering import render

MAX_LINES = 8
MAX_STOPPED = 8
MAX_NAMED = 4
LEVELS = ("critical", "warning")
HOURS = 24
MILLI = 1000
CLAIMED = ("honest", "hostile")
ROLES = ("honest", "hostile", "guest", "owner")


def show_overview(data: PageData) -> str:
    now, book = data.now(), data.shown.load_names()
    seen = redact_overview(select_overview(data.store, data.names, now))
    graphs = [graph for name in data.names if (graph := select_metagraph(data.store, name)) is not None]
    notices = group_notices([notice for notice in seen.notices if notice.level != "info"])
    # What a journal holds may be days old: its last day is counted back from its newest entry.
    until = now if seen.running or seen.last_entry is None else seen.last_entry
    return render(
        "overview.html",
        data.frame(),
        "/",
        now,
        title="Overview",
        block=max((graph.block for graph in graphs), default=None),
        running=seen.running,
        last_entry=seen.last_entry,
        speed=data.shown.speed,
        cards=[_format_card(data, view, seen, book) for view in seen.mechanisms],
        levels=[(level, count) for level in LEVELS if (count := sum(one["level"] == level for one in notices))],
        notices=notices,
        stopped=[_format_stopped(one) for one in select_stopped(data.store, until, HOURS)[:MAX_STOPPED]],
        attack_hours=HOURS,
        rounds=list_rounds(data.store, limit=MAX_LINES).items,
        hours=chart_hours(list_hours(count_hours(data.store, until, HOURS), data.names, until)),
    )


def list_hours(lines: Sequence[HourCount], mechanisms: Sequence[str], now: float) -> list[dict[str, Any]]:
    """Every hour has its place, also one without a round."""
    first = mechanisms[0] if mechanisms else ""
    hours = [(now // HOUR_SECONDS - back) * HOUR_SECONDS for back in range(HOURS)]
    empty = [{"at": at * MILLI, "mechanism": first, "rounds": 0} for at in hours]
    return [*empty, *({"at": line.at * MILLI, "mechanism": line.mechanism, "rounds": line.rounds} for line in lines)]


def group_notices(notices: Sequence[Notice]) -> list[dict[str, Any]]:
    """Open alerts, each code once whatever the number of mechanisms it is about; the newest words of it."""
    groups: dict[tuple[str, str], list[Notice]] = {}
    for notice in notices:
        groups.setdefault((notice.level, notice.code), []).append(notice)
    return [_format_notices(level, code, found) for (level, code), found in groups.items()]


def add_roles(earnings: Earnings, book: NameBook) -> list[tuple[str, float]]:
    """Pay of a demo's honest and hostile miners by the last weights; nothing outside a demo."""
    if not book.cast or earnings.last is None:
        return []
    total = dict.fromkeys(ROLES, 0.0)
    for hotkey, share in earnings.last.shares.items():
        role = book.find(hotkey).role
        if role in total:
            total[role] += share
    present = {member.role for member in book.cast.values()}
    found = [(role, share) for role, share in total.items() if role in present]
    return [(role, share) for role, share in found if role in CLAIMED or share > 0]


def _format_card(data: PageData, view: MechanismView, seen: Overview, book: NameBook) -> dict[str, Any]:
    last = view.last_weigh_in
    earnings = select_earnings(data.store, view.name)
    newest = list_rounds(data.store, mechanism=view.name, state="scored", limit=1).items
    due = view.next_weigh_in if seen.running else None
    return {
        "mechanism": view.name,
        "mode": view.mode,
        "blocks": view.blocks_now if seen.running else view.blocks,
        "blocks_at": view.blocks_at,
        "limit": view.limit_blocks,
        "weighed": None if last is None else _name_outcome(data, last),
        "weighed_at": None if last is None else last.at,
        "due": due,
        "left": None if due is None else max(0.0, due - seen.at) / data.shown.speed,
        "per_hour": view.rounds_last_hour,
        "round": newest[0] if newest else None,
        "waiting": view.waiting,
        "earned": draw_earnings(earnings, book),
        "roles": add_roles(earnings, book),
    }


def _name_outcome(data: PageData, last: AuditLine) -> str:
    """How far the last weigh-in got: the state of what was submitted, or why nothing was."""
    if last.kind != "submitted":
        return last.reason or last.kind
    sent = list_weights(data.store, last.mechanism or "", 1)
    return sent[0].state if sent else last.kind


def _format_notices(level: str, code: str, found: Sequence[Notice]) -> dict[str, Any]:
    newest = max(found, key=lambda one: one.raised)
    return {
        "level": level,
        "code": code,
        "mechanisms": [one.mechanism for one in found if one.mechanism is not None],
        "at": newest.raised,
        "text": newest.text,
        "count": sum(one.count for one in found),
        "remedy": find_remedy(code),
    }


def _format_stopped(one: StoppedAttack) -> dict[str, Any]:
    return {
        "what": one.what,
        "mechanism": one.mechanism,
        "reasons": one.reasons,
        "answers": one.answers,
        "rounds": one.rounds,
        "miners": one.miners[:MAX_NAMED],
        "more": max(0, len(one.miners) - MAX_NAMED),
        "would_earn": one.would_earn,
        "earn": one.earn,
    }
