"""What a mechanism says of its parameters is true: who reads them, and whether an observation depends on them."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from tests_root import ROOT
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params, make_params
from weighbeam.mechanism.records import Answer, Asked, Group, Observation
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanisms.evidence.task import BANK_SUFFIXES, find_archive
from weighbeam.senses.local import LocalSenses

NAMES = ("chunking", "evidence", "inference", "novelty")


@pytest.fixture(scope="module")
def web(cache: Path) -> Iterator[LocalSenses]:
    archive = find_archive()
    found = LocalSenses(
        cache=cache, pages=f"archive:{archive}", lists=archive / "lists", extra_suffixes=BANK_SUFFIXES, workers=1
    )
    yield found
    found.pages.close()


def list_rounds(mechanism: Mechanism) -> list[Asked]:
    question = json.loads((ROOT / f"examples/{mechanism.name}.json").read_text("utf-8"))
    rounds = [*mechanism.examples(), mechanism.parse_question(question)]
    return [*rounds, overlap(rounds[0])] if mechanism.name == "chunking" else rounds


def overlap(asked: Asked) -> Asked:
    """A chunking that says something twice: all words are there, and it does not tile the document."""
    document = asked.task.body["document"]
    answer = Answer("overlapping", {"chunks": [document, document]}, 1.0)
    return replace(asked, answers=(answer,), group=Group(("overlapping",)))


def list_others(mechanism: Mechanism, name: str) -> list[Any]:
    """Other values that the parameter may have, lower and higher ones among them."""
    value, kind = getattr(make_params(mechanism), name), mechanism.params_type.model_fields[name].annotation
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, str):
        named = get_args(kind) or [preset[name] for preset in mechanism.params_type.presets.values() if name in preset]
        return [other for other in named if other != value]
    numbers = [0, 1, 0.5, 2, -1.0] if value is None else [value / 2, value * 2, value + 0.25, value + 1, value - 0.25]
    whole = [int(number) for number in numbers]
    return [other for other in [*numbers, *whole] if other != value and is_taken(mechanism, {name: other})]


def is_taken(mechanism: Mechanism, overrides: dict[str, Any]) -> bool:
    try:
        make_params(mechanism, overrides)
    except Exception:
        return False
    return True


def strip(observation: Observation) -> bytes:
    """As it is journaled, without how long the machine took."""
    facts = json.loads(json.dumps(dict(observation.facts)))
    for miner in facts.get("miners", ()):
        for snippet in miner.get("snippets", ()):
            snippet.pop("timings", None)
    return Observation(facts, observation.arrays).pack()


def watch(mechanism: Mechanism, seen: set[str]) -> Params:
    """Parameters that note which of them are read."""
    names = set(mechanism.params_type.model_fields)

    class Watched(mechanism.params_type):
        def __getattribute__(self, name: str) -> Any:
            if name in names:
                seen.add(name)
            return super().__getattribute__(name)

    return Watched()


@pytest.mark.parametrize("name", NAMES)
def test_every_parameter_is_declared(name: str) -> None:
    mechanism = load_mechanism(name)
    assert set(mechanism.read_by) == set(mechanism.params_type.model_fields)
    assert all("observe" in read.verbs for read in mechanism.read_by.values() if read.holds)


@pytest.mark.parametrize("name", NAMES)
def test_an_observation_does_not_depend_on_what_observe_is_not_said_to_read(name: str, web: LocalSenses) -> None:
    mechanism = load_mechanism(name)
    others: dict[str, Any] = {}
    for parameter, read in mechanism.read_by.items():
        for value in list_others(mechanism, parameter) if "observe" not in read.verbs else ():
            if is_taken(mechanism, {**others, parameter: value}):
                others.setdefault(parameter, value)
    unsaid = [parameter for parameter, read in mechanism.read_by.items() if "observe" not in read.verbs]
    assert set(others) == set(unsaid)
    plain, changed = make_params(mechanism), make_params(mechanism, others)
    for asked in list_rounds(mechanism):
        assert strip(mechanism.observe(plain, asked, web)) == strip(mechanism.observe(changed, asked, web))


@pytest.mark.parametrize("name", NAMES)
def test_whoever_reads_a_parameter_is_said_to(name: str, web: LocalSenses) -> None:
    mechanism, seen = load_mechanism(name), set[str]()
    params, read = watch(mechanism, seen), dict[str, set[str]]()

    def note(verb: str, done: Any) -> Any:
        read.setdefault(verb, set()).update(seen)
        seen.clear()
        return done

    seen.clear()
    for asked in list_rounds(mechanism):
        if mechanism.kind == "asked":
            note("choose", mechanism.choose(params, (), [answer.hotkey for answer in asked.answers], "seed"))
            note(
                "ask",
                (
                    mechanism.pose(params, asked.task),
                    mechanism.ask_seconds(params),
                    mechanism.reply_limits(params, asked.task),
                ),
            )
        observation = note("observe", mechanism.observe(params, asked, web))
        note("observe", mechanism.name_senses(params, web))
        scored = note("score", mechanism.score(params, observation))
        standings = note("stand", mechanism.stand(params, (), scored))
        standings = note("stand", mechanism.stand(params, standings, scored))
        everyone = [standing.hotkey for standing in standings]
        note("weigh", mechanism.weigh(params, standings, everyone))
        if mechanism.burns:
            note("weigh", mechanism.weigh_burning(params, standings, everyone, "owner"))
    for verb in ("choose", "ask", "score", "stand", "weigh"):
        said = {parameter for parameter, by in mechanism.read_by.items() if verb in by.verbs}
        assert read.get(verb, set()) <= said, verb
    said = {parameter for parameter, by in mechanism.read_by.items() if "observe" in by.verbs}
    assert said <= read["observe"], "observe is said to read what it does not"


@pytest.mark.parametrize("name", NAMES)
def test_what_was_observed_holds_where_it_is_said_to(name: str, web: LocalSenses) -> None:
    """Those that hold whatever is set, all at once; the others one by one."""
    mechanism = load_mechanism(name)
    plain, rounds = make_params(mechanism), list_rounds(mechanism)
    holding = {parameter: read.holds for parameter, read in mechanism.read_by.items() if read.holds}
    tried = [
        {parameter: list_others(mechanism, parameter)[0] for parameter, holds in holding.items() if holds == "any"}
    ]
    for parameter, holds in holding.items():
        before = getattr(plain, parameter)
        others = [value for value in list_others(mechanism, parameter) if (value > before) == (holds == "raised")]
        tried += [{parameter: value} for value in others[:2] if holds != "any"]
    kept = [mechanism.observe(plain, asked, web) for asked in rounds] if holding else []
    for overrides in tried if holding else ():
        changed = make_params(mechanism, overrides)
        for asked, before in zip(rounds, kept, strict=True):
            assert score(mechanism, changed, before) == score(
                mechanism, changed, mechanism.observe(changed, asked, web)
            )


def score(mechanism: Mechanism, params: Params, observation: Observation) -> Any:
    """All but the counts of what was read, which pay nobody."""
    scored = mechanism.score(params, observation)
    return scored.scores, {name: value for name, value in scored.summary.items() if name != "metrics"}
