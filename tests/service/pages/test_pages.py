"""What pages say is so: figures of what was really set, ages that go on, and rounds of mechanisms that are gone."""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from html import unescape
from pathlib import Path

import pytest
from keyword_recall.mechanism import KeywordRecall
from sqlalchemy import update

from engine.recall import PARAMS, PaidRecall, play
from mechanisms.novelty.desk.tiny_senses import TinySenses
from network.loopback import ALICE, BOB
from service.read_api import NAME, RECALL, START
from weighbeam.charts.picture import ChartPicture
from weighbeam.cli.score.page import render_page
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.journal.encoding import RoundFacts
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.rules.intents import WeightsPlan
from weighbeam.engine.scoring import ScoreResult
from weighbeam.engine.support.lock import DEAD_SECONDS, HotkeyLock
from weighbeam.engine.support.observers import open_seat
from weighbeam.engine.views.earnings import select_earnings
from weighbeam.engine.views.names import NO_NAMES, CastAct, CastMember, note_cast
from weighbeam.engine.views.overview import count_hours, select_overview
from weighbeam.engine.views.stopped import select_stopped
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.page import MechanismPage
from weighbeam.mechanism.params import Params, hash_params, make_params
from weighbeam.mechanism.records import Answer, Asked, Group, Task
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanisms.novelty.desk.desk import open_desk
from weighbeam.mechanisms.novelty.service.page import show_novelty
from weighbeam.network.blame import Lateness
from weighbeam.senses.local import LocalSenses
from weighbeam.service.api.reader import ReadingApi, ReadingContext
from weighbeam.service.http.authentication import Authenticator, TokenKeyring
from weighbeam.service.http.cache import StoreCache
from weighbeam.service.http.callers import Caller
from weighbeam.service.http.pipeline import RequestPipeline
from weighbeam.service.http.rate_limit import RateLimits
from weighbeam.service.pages.answer import list_pictures, show_answer
from weighbeam.service.pages.earned_picture import draw_earnings
from weighbeam.service.pages.leaderboard import show_leaderboard
from weighbeam.service.pages.miner import show_miner
from weighbeam.service.pages.overview import show_overview
from weighbeam.service.pages.page_data import PageData
from weighbeam.service.pages.rounds import show_round, show_rounds
from weighbeam.service.pages.weights import show_weights
from weighbeam.store import tables
from weighbeam.store.artifacts import open_artifacts
from weighbeam.store.database import Store
from weighbeam.store.memory import remember

HOUR = 3600.0
READER = Caller("token:reader", frozenset({"read"}))
TAG = re.compile(r"<[^>]*>")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(f"sqlite:///{tmp_path / 'journal.db'}")


def make_shelf(
    store: Store, now: float = START, runs: Mapping[str, tuple[Mechanism, Params]] | None = None
) -> PageData:
    runs = runs or {NAME: (RECALL, PARAMS)}
    artifacts = open_artifacts("artifacts")
    shown = ReadingContext(store, runs, Averaging(), artifacts, ALICE, lambda: now, list, lambda: (200, {}))
    pipeline = RequestPipeline(Authenticator(ALICE.address, TokenKeyring(store), RateLimits()), 1024, {})
    return PageData(ReadingApi(pipeline, shown, StoreCache(store)))


def read(page: str) -> str:
    """The words of a page, one blank between them."""
    return " ".join(unescape(TAG.sub(" ", page)).split())


def set_weights(store: Store, state: str, values: tuple[int, ...]) -> None:
    uids = tuple(range(1, len(values) + 1))
    holders = tuple((f"miner{uid}", 1) for uid in uids)
    plan = WeightsPlan(uids, values, holders, 0, 8, 1, 0, False, 1, "NORMAL", "0" * 64, "0" * 64)
    number = Ledger(store, NAME).plan(plan, START)
    with store.write() as connection:
        connection.execute(update(tables.submissions).where(tables.submissions.c.id == number).values(state=state))


def test_how_old_our_weights_are_goes_on_while_a_validator_runs(store: Store) -> None:
    remember(store, f"blocks:{NAME}", {"blocks": 0, "at": START})
    with run_validator(store):
        assert " 5,000 blocks " in read(show_overview(make_shelf(store, START + 60_000)))


def test_the_age_of_weights_is_dated_when_no_validator_runs(store: Store) -> None:
    """One that has ended must not look as if it had just set weights, nor as if it still counted."""
    remember(store, f"blocks:{NAME}", {"blocks": 7, "at": START})
    play(Journal(store), RECALL, 0, START, {"a": "tide"})
    page = read(show_overview(make_shelf(store, START + 60_000)))
    assert "age 7 blocks when read 17 h ago" in page
    assert "No validator is running. The last entry in this journal was made 17 h ago" in page
    assert "next weigh-in none" in page


@contextmanager
def run_validator(store: Store) -> Iterator[None]:
    """The lock that a validator holds while it runs."""
    lock = HotkeyLock(store, ALICE.address)
    lock.take()
    try:
        yield
    finally:
        lock.release()


def test_a_countdown_runs_only_while_a_validator_does(store: Store) -> None:
    set_weights(store, "confirmed", (65535, 65535))
    shelf = make_shelf(store, START + 60)
    with run_validator(store):
        page = show_overview(shelf)
    assert float(re.findall(r'data-left="([0-9.]+)"', page)[0]) > 0
    assert "No validator is running" not in page
    page = show_overview(shelf)
    assert "data-left" not in page
    assert "No validator is running" in page


def test_an_observer_is_no_validator(store: Store) -> None:
    seat = open_seat(store)
    seat.take()
    assert "No validator is running" in show_overview(make_shelf(store))
    seat.release()


def test_a_process_that_died_runs_no_validator(store: Store) -> None:
    with store.write() as connection:
        held = {"hotkey": ALICE.address, "holder": "elsewhere/0/0:1:ab", "beat": time.time() - DEAD_SECONDS - 1}
        connection.execute(tables.locks.insert().values(**held))
    assert "No validator is running" in show_overview(make_shelf(store))


def test_confirmed_weights_are_shown_as_shares_over_time(store: Store) -> None:
    set_weights(store, "confirmed", (65535, 65535, 0))
    set_weights(store, "failed", (1, 2, 3))
    set_weights(store, "confirmed", (30000, 10000, 20000))
    earnings = select_earnings(store, NAME)
    assert [dict(one.shares) for one in earnings.vectors] == [
        {"miner1": 0.5, "miner2": 0.5, "miner3": 0.0},
        {"miner1": 0.5, "miner2": 1 / 6, "miner3": 1 / 3},
    ]
    assert earnings.earners == ("miner1", "miner2", "miner3")
    drawn = draw_earnings(earnings, NO_NAMES)
    assert drawn is not None
    for x in {one.x for one in drawn.stripes}:
        assert sum(one.height for one in drawn.stripes if one.x == x) == pytest.approx(drawn.height, abs=0.1)
    assert sum({one.x: one.width for one in drawn.stripes}.values()) == pytest.approx(drawn.width, abs=0.1)
    page = read(show_overview(make_shelf(store)))
    assert "miner1 50.0 % miner3 33.3 % miner2 16.7 %" in page


def test_a_void_round_is_not_shown_as_a_good_one(store: Store) -> None:
    play(Journal(store), RECALL, 0, START, {"a": "tide"})
    with store.write() as connection:
        connection.execute(update(tables.scores).values(status="unscored"))
    page = show_overview(make_shelf(store))
    assert '<span class="badge warn">void</span>' in page
    assert '<span class="badge good">scored</span>' not in page


def test_an_alert_of_two_mechanisms_is_shown_once(store: Store) -> None:
    for name in (NAME, "paid-recall"):
        Alerts(store, lambda: START).tell("void_round", "warning", f"nothing of {name} was scored", name)
    page = read(show_overview(make_shelf(store)))
    assert page.count("void_round") == 1
    assert f"void_round · {NAME}, paid-recall" in page or f"void_round · paid-recall, {NAME}" in page


def test_the_clock_of_an_accelerated_chain_is_named(store: Store) -> None:
    shelf = make_shelf(store)
    assert "times as fast" not in show_overview(shelf)
    fast = replace(shelf, reader=replace(shelf.reader, shown=replace(shelf.shown, speed=24.0)))
    assert "whose clock goes 24 times as fast as yours" in read(show_overview(fast))


def test_what_an_attack_would_have_earned_follows_from_its_rounds(store: Store, monkeypatch) -> None:
    journal = Journal(store)
    for number in range(2):
        play(journal, RECALL, number, START + number, {"a": "tide", "b": "tide moon", "c": "x", "d": "x"})
    scores = tables.scores.c
    with store.write() as connection:
        for hotkey, rounds in (("c", (f"{NAME}-0",)), ("d", (f"{NAME}-0", f"{NAME}-1"))):
            forged = update(tables.scores).where(scores.hotkey == hotkey, scores.round.in_(rounds))
            connection.execute(forged.values(status="failed", value=0.0, reasons=["forged"]))
        copied = {"round": f"{NAME}-1", "number": 0, "mechanism": NAME, "at": START + 1, "cosine": 1.0, "overlap": 1.0}
        connection.execute(tables.copies.insert().values(**copied, hotkeys=["a", "b", "c"]))
    monkeypatch.setattr(RECALL.__class__, "suspicious", {"forged": "forged answers"})
    found = {one.what: one for one in select_stopped(store, START + 60)}
    forged, copied = found["forged answers"], found["copied answers"]
    assert (forged.answers, forged.rounds, forged.miners) == (3, 2, ("d", "c"))
    # Round 0: two of four answers; round 1: one of three valid, one forged and two copies.
    assert forged.would_earn == pytest.approx((2 / 4 + 1 / 6) / 2)
    assert (copied.answers, set(copied.miners), copied.earn) == (2, {"a", "b", "c"}, None)
    page = read(show_overview(make_shelf(store, START + 60)))
    assert "forged answers in keyword-recall d , c" in page


def test_a_demo_says_who_is_honest_and_who_is_hostile(store: Store) -> None:
    play(Journal(store), RECALL, 0, START, {"miner1": "tide", "miner2": "tide moon"})
    set_weights(store, "confirmed", (10000, 30000))
    acts = {NAME: CastAct("liar", "lies fluently")}
    note_cast(store, {"miner1": CastMember("actor", "hostile", acts), "miner2": CastMember("ada", "honest")})
    shelf = make_shelf(store)
    assert "honest 75.0 % hostile 25.0 %" in read(show_overview(shelf))
    assert "liar uid 1 · miner1 hostile lies fluently" in read(show_leaderboard(shelf, NAME))
    page = read(show_miner(shelf, "actor", None))
    assert "In this demo it is hostile: in keyword-recall liar (lies fluently)." in page
    assert read(show_miner(shelf, "liar", NAME)) == read(show_miner(shelf, "miner1", NAME))


def test_overridden_parameters_are_said_beside_their_hash(store: Store) -> None:
    assert "overridden" not in show_leaderboard(make_shelf(store), NAME)
    name, value = next((name, value) for name, value in PARAMS.model_dump().items() if isinstance(value, float))
    changed = make_params(RECALL, {name: value / 2})
    page = read(show_leaderboard(make_shelf(store, runs={NAME: (RECALL, changed)}), NAME))
    assert f"parameters overridden Unlike other validators': {name} ." in page


def test_weights_that_failed_paid_nobody(store: Store) -> None:
    set_weights(store, "confirmed", (65535, 65535))
    for _ in range(40):
        set_weights(store, "failed", (65535, 1, 1))
    page = read(show_weights(make_shelf(store), {"mechanism": NAME}))
    assert "last weights failed" in page
    assert "miners paid 2 " in page
    assert "first miner 50.0 % of all weight" in page
    set_weights(store, "planned", (65535,))
    assert "miners paid 2 " in read(show_weights(make_shelf(store), {"mechanism": NAME}))


def test_weights_that_never_reached_the_chain_have_no_share(store: Store) -> None:
    set_weights(store, "failed", (65535, 1, 1))
    page = read(show_weights(make_shelf(store), {"mechanism": NAME}))
    assert "last weights failed" in page
    assert "miners paid" not in page


def test_rounds_from_before_a_clock_jumped_back_are_not_of_this_hour(store: Store) -> None:
    journal = Journal(store)
    for number, at in enumerate((START, START + 600, START + 5 * HOUR)):
        play(journal, RECALL, number, at, {"a": "tide"})
    now = START + 900
    (view,) = select_overview(store, [NAME], now).mechanisms
    assert view.rounds_last_hour == 2 == sum(line.rounds for line in count_hours(store, now))
    assert view.rounds_per_hour == 2 / 24


def test_a_share_of_valid_answers_is_of_those_judged(store: Store) -> None:
    journal = Journal(store)
    play(journal, RECALL, 0, START, {"a": "tide"})
    play(journal, RECALL, 1, START + 1, {"a": None})
    with store.write() as connection:
        scores = tables.scores.c
        connection.execute(update(tables.scores).where(scores.round == f"{NAME}-1").values(status="unscored"))
    assert "valid 100 % of 1 answer " in read(show_miner(make_shelf(store), "a", NAME))


def test_reasons_of_valid_answers_are_no_failures(store: Store) -> None:
    play(Journal(store), RECALL, 0, START, {"a": "tide"})
    with store.write() as connection:
        connection.execute(update(tables.scores).values(reasons=["other_cluster"]))
    page = read(show_miner(make_shelf(store), "a", NAME))
    assert "other_cluster" in page
    assert "Why answers failed" not in page


def test_a_round_is_shown_when_its_mechanism_is_gone(store: Store) -> None:
    play(Journal(store), PaidRecall(), 0, START, {"a": "tide", "b": "tide moon"})
    page = read(show_round(make_shelf(store), "paid-recall-0", withhold=False))
    assert "valid answers 2 of 2" in page
    page = read(show_answer(make_shelf(store), "paid-recall-0", "a", withhold=False))
    assert "score 0.5" in page
    assert "Nothing is kept that would explain it." in page


def test_a_round_for_which_this_machine_was_late_is_shown_as_void(store: Store) -> None:
    play(Journal(store), RECALL, 0, START, {"a": "tide"})
    lateness = Lateness(10.0, lag=1.5, stalled=1.5, probe=0.25, reached=2, late=1)
    answers = tuple(Answer(hotkey, None, 0.1, "validator_error", None, "late") for hotkey in ("a", "b"))
    asked = Asked(Task("t", {"keywords": ["tide"]}), Group(("a", "b")), answers, "s")
    params, digest = PARAMS.model_dump(mode="json"), hash_params(RECALL, PARAMS, {})
    facts = RoundFacts("late", NAME, params, digest, "s", 1, START, lateness=asdict(lateness))
    Journal(store).record(facts, asked, RECALL.observe(PARAMS, asked, None))
    Journal(store).commit("late", RECALL)
    told = "nobody is charged: event loop up to 1.50 s late, 1.50 s in all; own probe 0.25 s; 1 of 2 miners late"
    page = show_round(make_shelf(store), "late", withhold=False)
    assert told in read(page)
    assert '<span class="badge warn">void</span>' in page
    listed = show_rounds(make_shelf(store), {})
    assert listed.count('<span class="badge warn">void</span>') == 1
    assert listed.count('<span class="badge good">scored</span>') == 1


def test_gaps_between_chunks_are_not_counted_as_chunks(store: Store, senses: LocalSenses) -> None:
    """Most chunkers leave out the blank at a cut."""
    chunking = load_mechanism("chunking")
    params = make_params(chunking)
    chunks = ["Rain falls.", "Corn grows.", "Mills turn.", "Bread bakes.", "Bread bakes."]
    asked = Asked(
        Task("t", {"document": "Rain falls. Corn grows. Mills turn. Bread bakes.", "chunk_qty": 9}),
        Group(("a",)),
        (Answer("a", {"chunks": chunks}, 0.1),),
        "s",
    )
    facts = RoundFacts(
        "cut", "chunking", params.model_dump(mode="json"), hash_params(chunking, params, {}), "s", 1, START
    )
    Journal(store).record(facts, asked, chunking.observe(params, asked, senses))
    Journal(store).commit("cut", chunking)
    page = read(show_round(make_shelf(store, runs={"chunking": (chunking, params)}), "cut", withhold=False))
    assert "As cut by the best answer, a : 5 chunks." in page


def test_a_contribution_that_earns_nothing_is_not_told_as_paid(store: Store) -> None:
    mechanism = load_mechanism("novelty")
    params = make_params(mechanism, {"reference_similarity": 0.85})
    desk = open_desk(store, TinySenses(), ALICE, params)
    ending = "grind the rock below them to a flour that colours the lakes turquoise."
    given = (("ada", f"near ice {ending}"), ("bob", f"near ice {ending}"), ("eve", f"near ice we {ending}"))
    receipts = [desk.submit(who, text) for who, text in given]
    assert [(one["status"], one["units"] > 0) for one in receipts] == [
        ("paid", True),
        ("duplicate", False),
        ("paid", False),
    ]
    page = read(show_novelty(make_shelf(store, runs={"novelty": (mechanism, params)}), None, READER))
    assert re.findall(r"(?:ada|bob|eve) (\w+)", page) == ["not_new", "duplicate", "paid"]
    assert "1 contributions had something before them" in page


def play_chunking(store: Store, senses: LocalSenses) -> PageData:
    """The mechanism's own example as a committed round, and its pages."""
    mechanism = load_mechanism("chunking")
    params = make_params(mechanism, {})
    asked = mechanism.examples()[0]
    observation = mechanism.observe(params, asked, senses)
    digest = hash_params(mechanism, params, observation.facts["senses"])
    facts = RoundFacts("c-1", "chunking", params.model_dump(mode="json"), digest, str(asked.seed), 7, START)
    Journal(store).record(facts, asked, observation)
    Journal(store).commit("c-1", mechanism)
    return make_shelf(store, START + HOUR, runs={"chunking": (mechanism, params)})


def test_an_answer_is_shown_with_its_pictures(store: Store, senses: LocalSenses) -> None:
    data = play_chunking(store, senses)
    page = show_answer(data, "c-1", "paragraphs", withhold=False)
    assert re.findall(r'<figure class="chart" id="([^"]+)"', page) == ["reward-steps", "segment-matrix"]
    assert "border between chunks before segment gain by meaning" in read(page)
    failed = show_answer(data, "c-1", "shuffled", withhold=False)
    assert "<figure" not in failed


def test_a_failed_chunking_is_shown_as_marked_text_beside_its_document(store: Store, senses: LocalSenses) -> None:
    data = play_chunking(store, senses)
    page = show_answer(data, "c-1", "shuffled", withhold=False)
    assert "As cut by the best answer" in page
    said = page.partition('id="payload-title"')[2]
    assert "<mark>" in said
    assert "stands elsewhere in the document" in said
    assert "&#34;chunks&#34;" not in said
    order = re.findall(r'rel="(prev|next|related)" href="/rounds/c-1/([^"]+)"', page)
    assert ("related", "paragraphs") in order
    assert "As cut by the best answer" not in show_answer(data, "c-1", "paragraphs", withhold=False)
    first = show_answer(data, "c-1", "copy", withhold=False)
    assert "1 of 12" in read(first)
    assert 'rel="prev"' not in first


def test_a_contribution_is_shown_by_its_text_and_a_users_is_not(store: Store) -> None:
    mechanism = load_mechanism("novelty")
    params = make_params(mechanism)
    desk = open_desk(store, TinySenses(), ALICE, params)
    miner = BOB.address
    texts = ("<script>alert(1)</script> near ice grinds the rock", "far from ice the rock is whole and warm")
    ids = [desk.submit(who, text)["id"] for who, text in zip((miner, "ada"), texts, strict=True)]
    payload = {"contributions": [{"id": str(number), "status": "paid", "micro": 5, "nearest": "1"} for number in ids]}
    hook = mechanism.page.texts
    assert hook is not None
    shown = [one.text for one in hook(store, {}, payload)]
    assert shown[0] == texts[0]
    assert "operators alone" in shown[1]
    assert [one.text for one in hook(store, {}, {"contributions": [{"id": "x"}, 7, {"id": "9" * 30}]})] == []


def test_a_story_names_miners_and_links_them(store: Store) -> None:
    play(Journal(store), RECALL, 0, START, {ALICE.address: "tide", BOB.address: "tide moon"})
    told = f"The best answer is {BOB.address[:8]}'s, before {ALICE.address} <b>; 5Zzz is nobody"
    with store.write() as connection:
        row = {"round": f"{NAME}-0", "kind": "narrative", "at": START, "value": told, "maker": ""}
        connection.execute(tables.extras.insert().values(**row))
    data = make_shelf(store)
    named = replace(data.shown, aliases={BOB.address: "Bob <i>"})
    page = show_round(PageData(replace(data.reader, shown=named)), f"{NAME}-0", withhold=False)
    story = page.partition('id="narrative-title"')[2].partition("</section>")[0]
    assert f'href="/miners/{BOB.address}"' in story
    assert f"Bob &lt;i&gt; ({BOB.address[:8]})" in story
    assert f'href="/miners/{ALICE.address}"' in story
    assert "&lt;b&gt;; 5Zzz is nobody" in story


def test_standings_are_shown_with_their_pictures(store: Store, senses: LocalSenses) -> None:
    page = show_leaderboard(play_chunking(store, senses), "chunking")
    names = re.findall(r'<figure class="chart" id="([^"]+)"', page)
    assert names == ["standings", "ranking-groups", "incentive-curve"]
    assert "asked in round c-1" in page


DOT = ChartPicture("dot", "One <dot>", "A dot.", {"mark": "point", "data": {"values": [{}]}}, ("n",), ((1,),))


class PicturedRecall(KeywordRecall):
    """A mechanism from elsewhere: its answers have a picture, that of its standings cannot be drawn."""

    page = MechanismPage(answer_pictures=lambda *_: (DOT,), board_pictures=lambda *_: (1 / 0,))


def test_any_mechanism_can_have_pictures_and_one_that_breaks_spoils_no_page(store: Store) -> None:
    pictured = PicturedRecall()
    play(Journal(store), pictured, 0, START, {"a": "tide", "b": "tide moon"})
    data = make_shelf(store, runs={NAME: (pictured, PARAMS)})
    page = show_leaderboard(data, NAME)
    assert re.findall(r'<figure class="chart" id="([^"]+)"', page) == ["standings"]
    kept: ScoreResult = data.reader.recall_round(f"{NAME}-0")
    assert list_pictures(kept, "a") == ()
    drawn = list_pictures(replace(kept, mechanism=pictured), "a")
    assert drawn == (DOT,)
    assert "<dot>" not in render_page(replace(kept, mechanism=pictured), "<dot>")


def test_a_round_without_a_valid_answer_is_not_shown_as_good(store: Store) -> None:
    play(Journal(store), RECALL, 0, START, {"a": None, "b": None})
    data = make_shelf(store)
    for page in (show_rounds(data, {}), show_round(data, f"{NAME}-0", withhold=False), show_leaderboard(data, NAME)):
        assert '<span class="badge warn">scored</span>' in page
        assert '<span class="badge good">scored</span>' not in page
