"""Notices: told when they begin or grow worse, again after a while, and when they are over; never in a storm."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.rules.test_operator_rules import weighed
from engine.small_subnet import HOUR, START, Turned
from weighbeam.engine.alerts.alerts import MAX_NOTICE_TEXT, Alerts, format_notice, neutralise
from weighbeam.engine.alerts.notices import RANKS, NoticePolicy, list_notices
from weighbeam.engine.weights.weigh_in_alerts import list_ended
from weighbeam.store import tables
from weighbeam.store.database import Store


@pytest.fixture
def store(store_url: str):
    opened = Store(store_url)
    yield opened
    opened.close()


def start(store: Store, clock: Turned, receivers=("notice:a",), **more) -> Alerts:
    """As a process that starts now."""
    return Alerts(store, clock.now, NoticePolicy(receivers, started=clock.at, **more))


def told(store: Store, receiver: str = "notice:a") -> list[tuple[str, str, int]]:
    with store.read() as connection:
        rows = connection.execute(tables.outbox.select().order_by(tables.outbox.c.id)).all()
    return [(row.body["what"], row.body["code"], row.body["times"]) for row in rows if row.kind == receiver]


def test_the_same_again_is_told_after_a_day_with_how_often_it_was_raised(store: Store) -> None:
    clock = Turned()
    alerts = start(store, clock, ("notice:a", "notice:b"))
    for _ in range(25):
        alerts.tell("degraded_mode", "warning", "DEGRADED MODE", "chunking")
        clock.at += HOUR
    assert told(store) == told(store, "notice:b") == [("raised", "degraded_mode", 1), ("again", "degraded_mode", 24)]
    (open_one,) = list_notices(store)
    assert (open_one.code, open_one.mechanism, open_one.count, open_one.opened) == (
        "degraded_mode",
        "chunking",
        25,
        START,
    )


def test_what_grows_worse_is_told_at_once_and_what_is_below_the_level_is_not(store: Store) -> None:
    clock = Turned()
    alerts = start(store, clock, level="warning")
    alerts.tell("duplicate_answers", "info", "copies", "inference")
    alerts.tell("chain_unreadable", "warning", "dark", "chunking")
    alerts.tell("chain_unreadable", "critical", "darker", "chunking")
    alerts.tell("chain_unreadable", "warning", "dark", "chunking")
    assert told(store) == [("raised", "chain_unreadable", 1), ("raised", "chain_unreadable", 1)]
    assert [notice.level for notice in list_notices(store)] == ["critical", "info"]


def test_mechanisms_are_told_apart(store: Store) -> None:
    alerts = start(store, Turned())
    for mechanism in ("chunking", "inference", None):
        alerts.tell("clock_skew", "warning", "skew", mechanism)
    alerts.end({"clock_skew": "fine"}, "chunking")
    assert len(told(store)) == 4
    assert {notice.mechanism for notice in list_notices(store)} == {"inference", None}


def test_a_restart_tells_nothing_twice_and_forgets_no_end(store: Store) -> None:
    clock = Turned()
    for _ in range(10):
        start(store, clock).tell("submission_failed", "warning", "no", "chunking")
        clock.at += 600
    start(store, clock).end({"submission_failed": "submission 7 is confirmed"}, "chunking")
    assert told(store) == [("raised", "submission_failed", 1), ("over", "submission_failed", 10)]
    assert list_notices(store) == ()
    start(store, clock).tell("submission_failed", "warning", "again", "chunking")
    assert told(store)[-1] == ("raised", "submission_failed", 1)


def test_quiet_for_long_enough_is_over_but_not_while_nobody_looked(store: Store) -> None:
    clock = Turned()
    alerts = start(store, clock)
    alerts.tell("round_discarded", "warning", "no round", "chunking")
    clock.at += 20 * HOUR
    alerts = start(store, clock)
    alerts.end_quiet()
    assert len(list_notices(store)) == 1, "it was down all the time"
    clock.at += 3 * HOUR
    alerts.end_quiet()
    alerts.end_quiet()
    assert told(store) == [("raised", "round_discarded", 1), ("over", "round_discarded", 1)]


def test_a_clock_that_jumped_back_keeps_nothing_open(store: Store) -> None:
    clock = Turned()
    alerts = start(store, clock)
    clock.at -= 50 * HOUR
    alerts.tell("round_discarded", "warning", "no round", "chunking")
    alerts.tell("few_documents", "warning", "tasks will repeat", "chunking")
    clock.at += 2 * HOUR
    alerts.end_quiet()
    assert len(list_notices(store)) == 2
    clock.at += 2 * HOUR
    alerts.end_quiet()
    assert [notice.code for notice in list_notices(store)] == ["few_documents"]


def test_what_is_raised_once_and_lasts_is_not_over_for_being_quiet(store: Store) -> None:
    clock = Turned()
    alerts = start(store, clock)
    alerts.tell("env_ignored", "warning", "X is set but ignored")
    clock.at += 50 * HOUR
    alerts.end_quiet()
    assert len(list_notices(store)) == 1
    alerts = start(store, clock)
    clock.at += 4 * HOUR
    alerts.end_quiet()
    assert told(store) == [("raised", "env_ignored", 1), ("over", "env_ignored", 1)]


def test_without_a_receiver_notices_are_kept_and_nothing_is_sent(store: Store) -> None:
    alerts = start(store, Turned(), ())
    alerts.tell("clock_skew", "warning", "skew", "chunking")
    assert told(store) == []
    assert len(list_notices(store)) == 1
    later = start(store, Turned())
    later.tell("clock_skew", "warning", "skew", "chunking")
    assert told(store) == [("raised", "clock_skew", 1)]


def test_saying_that_a_mode_was_left_opens_nothing(store: Store) -> None:
    alerts = start(store, Turned(), level="info")
    alerts.tell("degraded_mode", "info", "left DEGRADED, now NORMAL", "chunking", left=True)
    assert list_notices(store) == ()


def test_what_a_weigh_in_ends() -> None:
    over = list_ended(weighed(0), [])
    assert over["emergency_mode"] == "left EMERGENCY, now NORMAL"
    assert over["degraded_mode"] == "left DEGRADED, now NORMAL"
    assert over["chain_unreadable"] == "the chain can be read again, mode NORMAL"
    assert not {"degraded_mode", "emergency_mode"} & list_ended(weighed(4600), []).keys()
    assert "emergency_mode" in list_ended(weighed(4100), ["degraded_mode"])
    assert not {"degraded_mode", "chain_unreadable", "stalled", "weights_late"} & list_ended(weighed(None), []).keys()
    assert "validator_list_unreadable" not in list_ended(weighed(0, list_ok=False), [])
    assert "submission_failed" not in over


@given(st.text())
def test_no_text_does_anything_where_it_is_shown(text: str) -> None:
    shown = neutralise(f"{text} @everyone <@1> [a](http://b) {text * 50}")
    assert len(shown) <= MAX_NOTICE_TEXT
    assert not set("@<>[]`\n\r\x1b\u202e") & set(shown)
    assert "://" not in shown


def test_the_words_of_the_specification_are_told_as_they_are() -> None:
    page = (Path(__file__).parents[3] / "docs/spec/weigh-in.md").read_text("utf-8")
    for done in (weighed(4000), weighed(4500)):
        wanted = str(done.mode.alert)
        hours = done.mode.freshness_hours
        template = wanted.replace(str(done.mode.blocks), "{blocks}").replace("5000", "{limit}")
        assert template.replace(f"{hours:g} h" if hours else "-", "{hours} h") in page
        body = {"what": "raised", "code": "x", "level": "warning", "text": wanted, "opened": 0, "at": 0, "times": 1}
        assert format_notice(body, "here")[1].splitlines()[0] == wanted


STEPS = st.lists(
    st.tuples(st.sampled_from(["warning", "critical", "end", "quiet", "restart"]), st.floats(0, 5)), max_size=20
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_whatever_happens_openings_and_ends_alternate_and_none_comes_too_often(store: Store, steps) -> None:
    with store.write() as connection:
        for table in (tables.outbox, tables.notices, tables.alerts):
            connection.execute(table.delete())
    clock = Turned()
    alerts = start(store, clock)
    for what, hours in steps:
        clock.at += hours * HOUR
        if what in RANKS:
            alerts.tell("clock_skew", what, "skew", "chunking")
        elif what == "end":
            alerts.end({"clock_skew": "fine"}, "chunking")
        elif what == "quiet":
            alerts.end_quiet()
        else:
            alerts = start(store, clock)
    with store.read() as connection:
        rows = [row.body for row in connection.execute(tables.outbox.select().order_by(tables.outbox.c.id))]
    is_open, since, level = False, 0.0, ""
    for body in rows:
        assert json.dumps(body)
        if body["what"] == "over":
            assert is_open
            is_open = False
        else:
            assert body["what"] == "raised" or (is_open and body["at"] - since >= 24 * HOUR)
            assert not is_open or body["what"] == "again" or RANKS[body["level"]] > RANKS[level]
            is_open, since, level = True, body["at"], body["level"]
