"""One miner's answer spoils no other's, whatever it is made of: not the round, not its time, not its scores."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mechanisms.evidence.small_web import OTHER, PLAIN, QUOTE, STATEMENT, SUN, GivenSenses, SmallWeb, open_small_web
from senses.adapters.pages.tls_servers import QUICK
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanism.records import Answer, Asked, Group, Observation, Score, Task
from weighbeam.mechanisms.evidence.judge.opinions import PendingOpinions
from weighbeam.mechanisms.evidence.judge.request import Claim
from weighbeam.mechanisms.evidence.mechanism import Evidence
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.senses.adapters.lists import FolderRulebook
from weighbeam.senses.adapters.pages.live import LivePages, LiveSettings
from weighbeam.senses.adapters.pages.parsing.parsers import ParserPool
from weighbeam.senses.local import LocalSenses, SystemClock

EVIDENCE, PARAMS = Evidence(), EvidenceParams()
GOOD = {"url": f"{PLAIN}/article", "excerpt": QUOTE}


@pytest.fixture(scope="module")
def web(senses: LocalSenses, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallWeb]:
    parsers = ParserPool()
    with open_small_web(senses, tmp_path_factory.mktemp("web"), parsers) as opened:
        yield opened
    parsers.close()


def observe(senses: GivenSenses, *payloads: object, at: float | None = None) -> Observation:
    answers = tuple(Answer(f"m{number}", payload, 60.0) for number, payload in enumerate(payloads))
    group = Group(tuple(answer.hotkey for answer in answers))
    return EVIDENCE.observe(PARAMS, Asked(Task("t", {"statement": STATEMENT}), group, answers, "s", {}, at), senses)


def score(senses: GivenSenses, *payloads: object) -> list[Score]:
    observation = observe(senses, *payloads)
    observation.pack()
    return list(EVIDENCE.score(PARAMS, observation).scores)


def nest(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("depth", [900, 5_000, 100_000])
def test_a_payload_nested_beyond_writing_is_invalid_and_nobody_elses_trouble(depth: int, web: SmallWeb) -> None:
    deep, fine = score(web.senses["sound"], {"snippets": [], "x": nest(depth)}, {"snippets": [GOOD]})
    assert deep.reasons in (("invalid_response",), ("no_statements",))
    assert fine.status == "valid"


def test_a_payload_is_measured_as_it_is_sent(web: SmallWeb) -> None:
    """80,000 Chinese characters are 240,000 bytes, though JSON may write twice as many."""
    fits, exceeds = (
        score(web.senses["sound"], {"snippets": [GOOD], "x": "字" * count})[0] for count in (80_000, 100_000)
    )
    assert (fits.status, exceeds.reasons) == ("valid", ("invalid_response",))


def test_half_a_character_makes_a_url_malformed(web: SmallWeb) -> None:
    (only,) = score(web.senses["sound"], {"snippets": [{"url": f"{PLAIN}/article\ud800", "excerpt": QUOTE}]})
    assert only.reasons == ("malformed_url",)


def test_the_url_as_given_is_kept_and_shown(web: SmallWeb) -> None:
    observation = observe(web.senses["sound"], {"snippets": [{"url": "http://a b", "excerpt": QUOTE}]})
    assert observation.facts["miners"][0]["snippets"][0]["given"] == "http://a b"
    report = EVIDENCE.report(PARAMS, observation, EVIDENCE.score(PARAMS, observation))
    assert report["answers"][0]["snippets"][0]["url"] == "http://a b"


class Choking:
    """A model that fails whenever a text holds a word."""

    def __init__(self, real: Any, word: str) -> None:
        self.real, self.word = real, word
        self.id, self.digest, self.dimensions = real.id, real.digest, getattr(real, "dimensions", 3)

    def _refuse(self, texts: Any) -> None:
        if any(self.word in str(text) for text in texts):
            raise ValueError("choked")

    def embed(self, texts: Any) -> Any:
        self._refuse(texts)
        return self.real.embed(texts)

    def judge(self, pairs: Any) -> Any:
        self._refuse(pairs)
        return self.real.judge(pairs)

    def feel(self, text: str) -> float:
        self._refuse([text])
        return float(self.real.feel(text))


CHOKING = {
    "embedder, on the excerpt": lambda s: replace(s, embedder=Choking(s.embedder, "390")),
    "embedder, on the context": lambda s: replace(s, embedder=Choking(s.embedder, "Twice")),
    "entailment": lambda s: replace(s, entailment=Choking(s.entailment, "390")),
}


@pytest.mark.parametrize("name", CHOKING)
def test_a_text_that_a_model_chokes_on_has_itself_to_blame(name: str, web: SmallWeb) -> None:
    senses = CHOKING[name](web.senses["sound"])
    bad, good = (QUOTE, SUN) if "context" in name else (SUN, QUOTE)
    padding = [{"url": f"{PLAIN}/article", "excerpt": f"!{i} {bad}"} for i in range(4)]
    first, second = score(
        senses,
        {"snippets": [{"url": f"{PLAIN}/article", "excerpt": bad}, *padding]},
        {"snippets": [{**GOOD, "excerpt": good}]},
    )
    assert "page_unavailable" in first.reasons
    assert "validator_fault" not in first.reasons
    assert second.status == "valid"


def test_a_passage_without_a_tone_is_scored_all_the_same(web: SmallWeb) -> None:
    sound = web.senses["sound"]
    (only,) = score(replace(sound, sentiment=Choking(sound.sentiment, "Moon")), {"snippets": [GOOD]})
    assert only.status == "valid"


def test_ages_that_cannot_be_had_are_unknown(web: SmallWeb) -> None:
    class Broken:
        id = digest = "broken"

        def age_days_of(self, domains: object) -> Any:
            raise OSError("the cache is gone")

    (only,) = score(replace(web.senses["sound"], ages=Broken()), {"snippets": [GOOD]})
    assert only.status == "valid"


class Hanging:
    id = digest = "hanging"

    def __init__(self, seconds: float) -> None:
        self.seconds, self.released = seconds, threading.Event()

    def assess(self, request: object) -> str:
        self.released.wait(self.seconds)
        raise WeighbeamError("assessor_timeout", "no reply", "wait")


def test_an_assessor_that_hangs_costs_one_deadline_for_all(web: SmallWeb) -> None:
    claims = [(Claim(STATEMENT, QUOTE, QUOTE, PLAIN), f"{number:016x}") for number in range(25)]
    hanging, began = Hanging(30.0), time.monotonic()
    opinions = PendingOpinions(hanging, claims, SystemClock()).collect(0.5)
    assert time.monotonic() - began < 15.0
    hanging.released.set()
    assert [opinion.fault for opinion, _ in opinions] == ["assessor_timeout"] * 25


def test_twenty_five_slow_pages_cost_one_deadline_and_hold_up_no_other(web: SmallWeb) -> None:
    """Two at a time, 20 s each, they would take 250 of the 300 seconds that a round has."""
    limits = replace(QUICK, read_seconds=3.0, per_domain=2, all_seconds=4.5)
    parsers = ParserPool()
    pages = LivePages(LiveSettings(limits=limits, probe_urls=()), web.network.guard(), parsers)
    slow = [{"snippets": [{"url": f"{PLAIN}/slow?{n}{i}", "excerpt": QUOTE} for i in range(5)]} for n in range(5)]
    began = time.monotonic()
    *held, fine = score(
        replace(web.senses["sound"], pages=pages), *slow, {"snippets": [{**GOOD, "url": f"{OTHER}/article"}]}
    )
    assert time.monotonic() - began < 25.0
    assert {(one.value, one.reasons) for one in held} == {(0.0, ("page_unavailable",))}
    assert fine.status == "valid"
    pages.close()


def write_list(folder: Path, name: str, version: int, effective: str, *entries: str) -> None:
    rows = [{"match": entry} for entry in entries]
    content = {"list": name, "version": version, "effective": effective, "entries": rows}
    (folder / f"{name}-{version}.json").write_text(json.dumps(content), "utf-8")


def test_lists_are_those_in_force_when_the_round_began(web: SmallWeb, tmp_path: Path) -> None:
    write_list(tmp_path, "approved", 1, "2000-01-01")
    write_list(tmp_path, "blacklist", 1, "2000-01-01")
    write_list(tmp_path, "blacklist", 2, "2010-01-01", "oldtides.org")
    senses = replace(web.senses["sound"], rulebook=FolderRulebook(tmp_path))
    observed = [observe(senses, {"snippets": [GOOD]}, at=at) for at in (1_262_303_999.0, 1_262_304_000.0, None)]
    assert [one.facts["lists"]["blacklist"]["version"] for one in observed] == [1, 2, 2]
    reasons = [EVIDENCE.score(PARAMS, one).scores[0].reasons for one in observed]
    assert reasons == [(), ("blacklisted_domain",), ("blacklisted_domain",)]


def break_entry(folder: Path) -> None:
    write_list(folder, "blacklist", 2, "2010-01-01", "no host at all")


def remove_list(folder: Path) -> None:
    (folder / "blacklist-1.json").unlink()


@pytest.mark.parametrize(("spoil", "code"), [(break_entry, "bad_entry"), (remove_list, "bad_list")])
def test_a_broken_or_missing_list_is_told_before_anyone_is_asked(
    spoil: Callable[[Path], None], code: str, web: SmallWeb, tmp_path: Path
) -> None:
    for name in ("approved", "blacklist"):
        write_list(tmp_path, name, 1, "2000-01-01")
    EVIDENCE.name_senses(PARAMS, replace(web.senses["sound"], rulebook=FolderRulebook(tmp_path)))
    spoil(tmp_path)
    with pytest.raises(WeighbeamError) as refused:
        EVIDENCE.name_senses(PARAMS, replace(web.senses["sound"], rulebook=FolderRulebook(tmp_path)))
    assert refused.value.code == code


def test_without_a_folder_lists_are_empty() -> None:
    assert FolderRulebook(None).in_force("blacklist").entries == ()
