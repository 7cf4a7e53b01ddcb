"""Observing ends in time whatever is slow, and nobody but who brought it suffers; how long it took is no score."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechanisms.evidence.small_web import OTHER, PLAIN, QUOTE, STATEMENT, SmallWeb, open_small_web
from weighbeam.mechanism.records import Answer, Asked, Group, Observation, Score, Task
from weighbeam.mechanisms.evidence.judge.models import NLI_BATCH, embed_in_time, infer_in_time
from weighbeam.mechanisms.evidence.mechanism import Evidence
from weighbeam.mechanisms.evidence.pages import reading as looking
from weighbeam.mechanisms.evidence.pages.context import MARKS
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.senses.adapters.pages.parsing.parsers import ParserPool
from weighbeam.senses.local import LocalSenses

EVIDENCE, PARAMS = Evidence(), EvidenceParams()
GOOD = {"url": f"{PLAIN}/article", "excerpt": QUOTE}
WORDS = [f"word{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(99)]
STUFFED = {"url": f"{OTHER}/article", "excerpt": ". ".join(WORDS)}
FAULT = (None, ("validator_fault",))


class Leaping:
    """A clock that a test moves on."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def seconds(self) -> float:
        return time.monotonic() + self.ahead

    def utc(self) -> float:
        return time.time()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


@dataclass
class Slow:
    """A sense before or behind which something happens."""

    real: Any
    before: Callable[[], None]
    after: Callable[[], None] = lambda: None

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.real, name)
        return self.wrap(found) if name in ("embed", "judge", "read_all", "age_days_of") else found

    def wrap(self, work: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def run(given: Any) -> Any:
            self.before()
            found = work(given)
            self.after()
            return found

        return run


@pytest.fixture(scope="module")
def web(senses: LocalSenses, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallWeb]:
    parsers = ParserPool()
    with open_small_web(senses, tmp_path_factory.mktemp("web"), parsers) as opened:
        yield opened
    parsers.close()


@pytest.fixture
def clock() -> Leaping:
    return Leaping()


def leap(clock: Leaping, seconds: float) -> Callable[[], None]:
    def go() -> None:
        clock.ahead += seconds

    return go


def observe(senses: Any, *snippets: object) -> Observation:
    answers = tuple(Answer(f"m{number}", {"snippets": [one]}, 60.0) for number, one in enumerate(snippets))
    group = Group(tuple(answer.hotkey for answer in answers))
    return EVIDENCE.observe(PARAMS, Asked(Task("t", {"statement": STATEMENT}), group, answers, "s"), senses)


def score(observation: Observation) -> list[Score]:
    observation.pack()
    return list(EVIDENCE.score(PARAMS, observation).scores)


def test_marks_leave_half_of_what_the_engine_grants() -> None:
    assert list(MARKS.values()) == sorted(MARKS.values())
    assert max(MARKS.values()) < 150


def test_who_stuffs_an_excerpt_is_late_and_nobody_else(web: SmallWeb, clock: Leaping) -> None:
    sound = web.senses["sound"]
    slow = Slow(sound.embedder, leap(clock, MARKS["similarity"] / 2 + 1))
    stuffed, fine = score(observe(replace(sound, clock=clock, embedder=slow), STUFFED, GOOD))
    assert (stuffed.value, stuffed.reasons) == FAULT
    assert fine.status == "valid"


def test_a_reader_that_hangs_is_not_waited_for_and_charges_nobody(web: SmallWeb, clock: Leaping) -> None:
    sound = web.senses["sound"]
    embedder = Slow(sound.embedder, leap(clock, MARKS["read"] - 0.3))
    released = threading.Event()
    pages = Slow(sound.pages, lambda: released.wait(30))
    began = time.monotonic()
    observation = observe(
        replace(sound, clock=clock, embedder=embedder, pages=pages), GOOD, {"url": "http://a.org", "excerpt": QUOTE}
    )
    late, refused = score(observation)
    assert time.monotonic() - began < 15
    released.set()
    assert (late.value, late.reasons) == FAULT
    assert refused.reasons == ("non_https",)
    assert observation.facts["faults"] == ["pages: not read in time"]


def test_the_largest_pages_are_looked_at_last(web: SmallWeb, clock: Leaping, monkeypatch: pytest.MonkeyPatch) -> None:
    sound = web.senses["sound"]
    match_all, order = looking.match_all, []

    def match_slowly(page: Any, excerpts: Any) -> Any:
        order.append(page.url)
        clock.ahead += 1.5
        return match_all(page, excerpts)

    class Padded:
        id = digest = "padded"

        def read_all(self, urls: Any) -> Any:
            read = list(zip(urls, sound.pages.read_all(urls), strict=True))
            clock.ahead += MARKS["match"] - 1
            return [replace(page, text=page.text + " pad" * 9_999 * (OTHER in url)) for url, page in read]

    monkeypatch.setattr(looking, "match_all", match_slowly)
    large = {"url": f"{OTHER}/article", "excerpt": QUOTE}
    late, fine = score(observe(replace(sound, clock=clock, pages=Padded()), large, GOOD))
    assert order == [GOOD["url"]]
    assert (late.value, late.reasons) == FAULT
    assert fine.status == "valid"


def test_a_registry_that_hangs_leaves_an_age_unknown(web: SmallWeb, clock: Leaping) -> None:
    sound = web.senses["sound"]
    pages = Slow(sound.pages, lambda: None, leap(clock, MARKS["match"] - 3))
    released = threading.Event()
    ages = Slow(sound.ages, lambda: released.wait(30))
    began = time.monotonic()
    observation = observe(replace(sound, clock=clock, pages=pages, ages=ages), GOOD)
    assert time.monotonic() - began < 15
    released.set()
    assert score(observation)[0].status == "valid"
    assert observation.facts["miners"][0]["snippets"][0]["age_days"] is None


def test_a_passage_there_was_no_time_for_is_our_fault(web: SmallWeb, clock: Leaping) -> None:
    sound = web.senses["sound"]
    ages = Slow(sound.ages, lambda: None, leap(clock, MARKS["relevance"]))
    (only,) = score(observe(replace(sound, clock=clock, ages=ages), GOOD))
    assert (only.value, only.reasons) == FAULT


def test_a_premise_there_was_no_time_for_is_our_fault(web: SmallWeb, clock: Leaping) -> None:
    sound = web.senses["sound"]
    embedder = Slow(sound.embedder, lambda: None, leap(clock, MARKS["infer"] / 2))
    (only,) = score(observe(replace(sound, clock=clock, embedder=embedder), GOOD))
    assert (only.value, only.reasons) == FAULT


def count_down(times: int) -> Callable[[], bool]:
    left = iter([True] * times)
    return lambda: next(left, False)


def test_small_groups_are_embedded_first_and_the_late_are_known(senses: LocalSenses) -> None:
    small, large = ["the sea", "the moon"], [f"wave {number}" for number in range(130)]
    close = embed_in_time([large, small], senses.embedder, "known", count_down(1))
    assert not close.down
    assert close.compare(*small[:1], small[1:]) is not None
    assert close.late < set(large)
    assert close.is_to_blame(large)
    assert not close.is_to_blame(small)
    whole = embed_in_time([large, small], senses.embedder, "known", lambda: True)
    assert whole.late == set()
    assert all((whole.rows[text] == close.rows[text]).all() for text in close.rows)


def test_short_premises_are_judged_first_and_the_late_are_known(senses: LocalSenses) -> None:
    pairs = [(f"The sea rises {'very ' * number}high.", STATEMENT) for number in range(NLI_BATCH + 3)]
    inferred = infer_in_time(reversed(pairs), senses.entailment, ("known", STATEMENT), count_down(1))
    assert set(inferred.rows) == set(pairs[:NLI_BATCH])
    assert inferred.late == set(pairs[NLI_BATCH:])
    assert inferred.is_to_blame(pairs[NLI_BATCH:])
    assert not inferred.is_to_blame(pairs[:NLI_BATCH])


NAMES = ("similarity", "read", "match", "ages", "relevance", "nli", "assess")


@pytest.fixture(scope="module")
def observed(web: SmallWeb) -> Observation:
    return observe(web.senses["model agrees"], GOOD, {**GOOD, "excerpt": "one two three four five six"}, STUFFED)


def test_every_snippet_tells_how_long_it_took(observed: Observation) -> None:
    accepted, refused, _ = (miner["snippets"][0]["timings"] for miner in observed.facts["miners"])
    assert set(accepted) == set(NAMES)
    assert set(refused) == {"similarity", "read", "match", "ages"}
    assert all(seconds == round(seconds, 6) >= 0 for seconds in accepted.values())
    assert accepted["read"] > 0
    scored = EVIDENCE.score(PARAMS, observed)
    report = json.loads(json.dumps(EVIDENCE.report(PARAMS, observed, scored)))
    assert report["answers"][0]["snippets"][0]["timings"] == accepted
    told = json.dumps([EVIDENCE.explain(PARAMS, observed, scored, "m0").children[1].children[-1].text])
    assert "seconds, never part of the score: similarity" in told


@given(st.dictionaries(st.sampled_from(NAMES), st.floats(0, 1e6)) | st.none())
def test_no_score_depends_on_how_long_it_took(observed: Observation, timings: dict[str, float] | None) -> None:
    facts = json.loads(json.dumps(observed.facts))
    for miner in facts["miners"]:
        for snippet in miner["snippets"]:
            snippet.pop("timings")
            snippet |= {} if timings is None else {"timings": timings}
    changed = replace(observed, facts=facts)
    assert EVIDENCE.score(PARAMS, changed) == EVIDENCE.score(PARAMS, observed)
