"""The mechanism as the engine and a user meet it."""

import re
from dataclasses import replace

import numpy as np
import pytest

from tests_root import ROOT
from weighbeam.core.canonical import digest_text
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.projections import list_evaluations
from weighbeam.mechanism.checks import check_mechanism
from weighbeam.mechanism.params import make_params
from weighbeam.mechanism.records import Answer, Asked, Group, Node, Standing, Task
from weighbeam.mechanisms.inference.examples import GAP, PROMPT, STEEL, THERMAL
from weighbeam.mechanisms.inference.explain import MEANINGS
from weighbeam.mechanisms.inference.mechanism import Inference
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.question import describe_outcome
from weighbeam.mechanisms.inference.task import load_bank
from weighbeam.senses.local import LocalSenses

INFERENCE, PARAMS = Inference(), InferenceParams()
SPEC = (ROOT / "docs/spec/inference.md").read_text()
WORDS = {"true": True, "false": False, "kinds": "kinds"}
ASKING = {"max_answer_words": 2000, "max_miners": 10, "min_stake_rao": 100 * 10**9}


def test_it_keeps_the_contract(senses: LocalSenses) -> None:
    assert all(finding.ok for finding in check_mechanism(INFERENCE, senses))


def test_defaults_are_those_of_the_specification() -> None:
    table = SPEC.split("## 2. Constants")[1].split("## 3.")[0]
    known: dict[str, object] = {}
    for names, values in re.findall(r"\| ((?:`\w+`(?:, )?)+) \| ([^|]+?) \|", table):
        for name, value in zip(re.findall(r"`(\w+)`", names), values.split(", "), strict=True):
            known[name] = WORDS[value] if value in WORDS else float(value)
    assert InferenceParams().model_dump() == {**known, **ASKING}


@pytest.mark.parametrize(
    "overrides",
    [
        {"nope": 1}, {"quality_threshold": 1.1}, {"quality_sensitivity": -0.1}, {"lof_min_voices": 2},
        {"min_miners": 0}, {"max_miners": 2.5}, {"lambda_factor": float("inf")}, {"clustering": "yes"},
        {"timeout_seconds": 0}, {"min_stake_rao": -1}, {"speed_min": 1.6},
    ],
)  # fmt: skip
def test_unknown_names_and_bad_values_are_refused(overrides: dict[str, object]) -> None:
    with pytest.raises(WeighbeamError, match="bad_params"):
        make_params(INFERENCE, overrides)


def test_whom_to_ask() -> None:
    miners = [f"m{i:02}" for i in range(30)]
    standings = [Standing(hotkey, 0.1, {"count": 5}) for hotkey in miners[:20]]
    group = INFERENCE.choose(PARAMS, standings, miners, "s")
    assert set(group.members) == set(miners[20:])
    fresh = INFERENCE.choose(PARAMS, (), miners, 7)
    assert list(fresh.members) == sorted(miners, key=lambda hotkey: digest_text(f"7:{hotkey}"))[:10]
    wanted = INFERENCE.choose(PARAMS, standings, miners, "s", ("m00", "m25", "ghost", "m00"))
    assert wanted.members == group.members
    assert wanted.extra == ("m00",)
    assert wanted.unknown == ("ghost",)
    assert INFERENCE.choose(PARAMS, (), miners[:2], "s").members == ()


def test_the_bank_and_the_files_make_tasks() -> None:
    bank = load_bank()
    assert len({row["id"] for row in bank}) == len({row["prompt"] for row in bank}) == len(bank) >= 3
    for row in bank:
        assert INFERENCE.pose(PARAMS, Task("t", row)) == {"prompt": row["prompt"], "max_words": 2000}
    task = INFERENCE.parse_task(PARAMS, "a.txt", " Why so?\n")
    assert INFERENCE.pose(PARAMS, task) == {"prompt": "Why so?", "max_words": 2000}
    with pytest.raises(WeighbeamError, match="bad_task"):
        INFERENCE.parse_task(PARAMS, "a.txt", "\n")


def test_a_miner_gets_all_messages_and_nothing_about_others() -> None:
    said = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
    body = {"messages": said, "max_tokens": 300, "prose": False, "entities": {"a": "x"}}
    assert INFERENCE.pose(PARAMS, Task("t", body)) == {"messages": said, "max_tokens": 300, "max_words": 2000}


def test_a_question_is_scored_and_told(senses: LocalSenses) -> None:
    texts = {"a": STEEL, "b": GAP, "c": THERMAL, "d": "I like turtles."}
    rows = [{"hotkey": key, "text": text, "seconds": 2, "entity": "x"} for key, text in texts.items()]
    asked = INFERENCE.parse_question({"prompt": PROMPT, "answers": rows})
    observation = INFERENCE.observe(PARAMS, asked, senses)
    scored = INFERENCE.score(PARAMS, observation)
    report = INFERENCE.report(PARAMS, observation, scored)
    assert report["flagged"] == ["d"]
    assert [row["hotkey"] for row in report["answers"]] == list(texts)
    assert INFERENCE.best(PARAMS, observation, scored) == report["best"]
    assert report["reading"] == describe_outcome(report, PARAMS)
    assert not any(report["groups"])
    for row in rows:
        del row["entity"]
    free = INFERENCE.parse_question({"prompt": PROMPT, "answers": rows})
    assert INFERENCE.score(PARAMS, INFERENCE.observe(PARAMS, free, senses)).summary["mu"] == report["mu"] != 0


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ([], "bad_question"),
        ({"prompt": "Why?"}, "no_answers"),
        ({"prompt": "Why?", "answers": {}}, "no_answers"),
        ({"prompt": "Why?", "answers": [7]}, "bad_answer"),
        ({"prompt": "Why?", "answers": [{"hotkey": 7}]}, "bad_hotkey"),
        ({"prompt": "Why?", "answers": [{"seconds": "x"}]}, "bad_seconds"),
        ({"prompt": "Why?", "answers": [{"hotkey": "a"}, {"hotkey": "a"}]}, "duplicate_hotkey"),
        ({"prompt": "", "answers": [{"text": "x"}]}, "empty_prompt"),
        ({"answers": [{"text": "x"}]}, "bad_prompt"),
    ],
)
def test_bad_questions_are_named(data: object, code: str) -> None:
    with pytest.raises(WeighbeamError, match=code):
        INFERENCE.parse_question(data)


def test_the_engine_gets_one_emission_per_judged_miner(senses: LocalSenses) -> None:
    for asked in INFERENCE.examples():
        scored = INFERENCE.score(PARAMS, INFERENCE.observe(PARAMS, asked, senses))
        judged = {score.hotkey for score in scored.scores if score.status != "unscored"}
        assert set(scored.summary["emissions"]) == judged
        rows = list_evaluations(INFERENCE, "r", 0.0, scored)
        assert {row["hotkey"] for row in rows if row["success"]} == {
            score.hotkey for score in scored.scores if score.status == "valid"
        }


def test_who_is_asked_besides_is_judged_and_not_paid(senses: LocalSenses) -> None:
    answers = tuple(Answer(key, {"text": text}, 1.0) for key, text in (("a", STEEL), ("b", GAP), ("c", THERMAL)))
    asked = Asked(Task("t", {"prompt": PROMPT}), Group(("a", "b"), extra=("c",)), answers, 1)
    scored = INFERENCE.score(PARAMS, INFERENCE.observe(PARAMS, asked, senses))
    assert set(scored.summary["emissions"]) == {"a", "b"}
    unranked = replace(asked, task=replace(asked.task, ranked=False))
    scored = INFERENCE.score(PARAMS, INFERENCE.observe(PARAMS, unranked, senses))
    assert scored.summary["emissions"] == {}
    assert all(score.value for score in scored.scores)


def list_lines(node: Node) -> list[str]:
    return [node.text, *(line for child in node.children for line in list_lines(child))]


def test_the_arithmetic_of_an_explanation_is_right(senses: LocalSenses) -> None:
    asked = INFERENCE.examples()[0]
    observation = INFERENCE.observe(PARAMS, asked, senses)
    scored = INFERENCE.score(PARAMS, observation)
    for score in scored.scores:
        lines = list_lines(INFERENCE.explain(PARAMS, observation, scored, score.hotkey))
        if score.status != "valid":
            assert any(line.startswith(score.reasons[0]) for line in lines)
            continue
        sums = next(line for line in lines if line.startswith("score = ")).split(" = ")
        assert sum(map(float, sums[1].split(" + "))) == pytest.approx(float(sums[2]), rel=1e-4)
        product = next(line for line in lines if line.startswith("emission = ")).split(" = ")
        assert np.prod([float(x) for x in product[1].split(" × ")]) == pytest.approx(float(product[2]), rel=1e-4)


def test_every_reason_has_a_meaning(senses: LocalSenses) -> None:
    page = (ROOT / "docs/mechanisms/inference.md").read_text()
    assert [reason for reason in MEANINGS if f"`{reason}`" not in page] == []


def test_the_texts_shown() -> None:
    output = {"void": False, "achieved": True, "consensus_score": 0.8, "alerts": [], "quality": {}}
    assert describe_outcome(output, PARAMS)[0].endswith("earn 1.2 times.")
    output["achieved"] = False
    assert "look alike" in describe_outcome(output, PARAMS)[0]
    output["consensus_score"] = 0.7
    output["alerts"] = [{"code": "low_quality_cluster", "severity": "critical", "hotkeys": ["a", "b"]}]
    output["quality"] = {"a": 0.1, "b": 0.2, "c": 0.9}
    weak, garbage = describe_outcome(output, PARAMS)
    assert weak.startswith("Weak or no consensus")
    assert "2 of 3, mean quality 0.15." in garbage
    assert describe_outcome({"void": True}, PARAMS) == [
        "Fewer than 3 answers arrived. Nothing was scored, no standing changed."
    ]
