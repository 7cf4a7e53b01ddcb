"""Rounds with a reference: who is right is compared and paid, who is wrong keeps a tenth and is remembered."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.encoding import RoundFacts
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.projections import select_standings
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.journal.state import ReplayState, apply_round
from weighbeam.engine.rules.constants import Averaging, WeighInLimits
from weighbeam.engine.rules.weighing import Weighing
from weighbeam.engine.vectors import call_stage
from weighbeam.engine.views.trends import select_trends
from weighbeam.mechanism.params import hash_params
from weighbeam.mechanism.records import Answer, Asked, Group, Observation, Scored, Standing, Task
from weighbeam.mechanisms.inference.mechanism import Inference
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.question import parse_question
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

INFERENCE, PARAMS = Inference(), InferenceParams()
PROMPT = "An orchard has 12 rows with 15 trees in each. How many trees are there altogether? Say how you work it out."
REFERENCE = {"kind": "value", "answer": 180}
RIGHT = (
    "There are 12 rows and every row holds 15 trees, so multiplying rows by trees gives 12 × 15 = 180. The orchard has "
    "180 trees altogether.",
    "Ten rows make 150 trees and the remaining two rows add another 30, which sums to 180 trees in the whole orchard. "
    "The answer is 180.",
)
WRONG = (
    "There are 12 rows and every row holds 15 trees, so multiplying rows by trees gives 12 × 15 = 190. The orchard has "
    "190 trees altogether.",
    "Ten rows make 150 trees and the remaining two rows add another 40, which sums to 190 trees in the whole orchard. "
    "The answer is 190.",
    "Counting the trees row by row in the orchard brings you to a total of 190 trees, since twelve rows contribute.",
    "Twelve rows of fifteen trees come to 190 trees for the entire orchard, counted along each row in turn.",
)


def ask(texts: dict[str, str], kind: Any = "synthetic", **body: Any) -> Asked:
    answers = tuple(Answer(hotkey, {"text": text}, 2.0) for hotkey, text in texts.items())
    task = Task("t", {"prompt": PROMPT, "reference": REFERENCE, **body}, kind)
    return Asked(task, Group(tuple(texts)), answers, "seed")


def play(
    senses: LocalSenses, texts: dict[str, str], kind: Any = "synthetic", **body: Any
) -> tuple[Observation, Scored]:
    observation = INFERENCE.observe(PARAMS, ask(texts, kind, **body), senses)
    return observation, INFERENCE.score(PARAMS, Observation.unpack(observation.pack()))


def list_values(scored: Scored) -> dict[str, float | None]:
    return {score.hotkey: score.value for score in scored.scores}


MAJORITY = {"good": RIGHT[0], "also": RIGHT[1]} | {f"liar-{n}": text for n, text in enumerate(WRONG)}


def test_a_wrong_majority_does_not_win(senses: LocalSenses) -> None:
    _, scored = play(senses, MAJORITY)
    emissions = scored.summary["emissions"]
    least = min(emissions["good"], emissions["also"])
    assert least > 8 * max(emissions[f"liar-{n}"] for n in range(4))
    assert scored.summary["in_consensus"] == ["also", "good"]
    assert {scored.summary["removed"][f"liar-{n}"] for n in range(4)} == {"wrong"}
    assert scored.summary["truth"] == {"also": 1.0, "good": 1.0} | {f"liar-{n}": 0.0 for n in range(4)}


def test_without_its_reference_the_same_majority_wins(senses: LocalSenses) -> None:
    """Or the test above would say nothing."""
    _, scored = play(senses, MAJORITY, kind="organic")
    assert "truth" not in scored.summary
    assert max(scored.summary["emissions"], key=scored.summary["emissions"].__getitem__).startswith("liar")


def test_copies_of_a_wrong_answer_share_what_it_keeps(senses: LocalSenses) -> None:
    copied = {"good": RIGHT[0], "also": RIGHT[1], "one": WRONG[1], "two": WRONG[1] + " ", "three": WRONG[1]}
    _, scored = play(senses, copied)
    emissions = scored.summary["emissions"]
    assert emissions["one"] + emissions["two"] + emissions["three"] < 0.15 * emissions["also"]


def test_a_changed_figure_takes_nothing_from_the_right_answer(senses: LocalSenses) -> None:
    """A copy with another number is alike in words and meaning; it must not halve the pay of the right one."""
    pair = {"good": RIGHT[0], "also": RIGHT[1], "fake": RIGHT[0].replace("180", "190")}
    alone, beside = play(senses, {**pair, "fake": WRONG[2]})[1], play(senses, pair)[1]
    assert beside.summary["emissions"]["good"] == pytest.approx(alone.summary["emissions"]["good"], rel=0.1)


def test_nobody_is_paid_where_nobody_is_right(senses: LocalSenses) -> None:
    _, scored = play(senses, {f"liar-{n}": text for n, text in enumerate(WRONG)})
    assert set(scored.summary["emissions"].values()) == {0.0}


def test_one_right_answer_among_wrong_ones_is_paid(senses: LocalSenses) -> None:
    _, scored = play(senses, {"good": RIGHT[0]} | {f"liar-{n}": text for n, text in enumerate(WRONG)})
    assert scored.summary["best"] == "good"
    assert scored.summary["emissions"]["good"] > 5 * max(scored.summary["emissions"][f"liar-{n}"] for n in range(4))


def test_a_right_answer_is_never_flagged_for_being_short(senses: LocalSenses) -> None:
    _, scored = play(senses, {"good": RIGHT[0], "also": RIGHT[1], "terse": "180", "wrong": "190"})
    statuses = {score.hotkey: score.status for score in scored.scores}
    assert statuses["terse"] == "valid"
    values = {hotkey: value or 0.0 for hotkey, value in list_values(scored).items()}
    assert 0 <= values["wrong"] < values["terse"] < values["good"]


def test_what_cannot_be_judged_counts_neither_for_nor_against(senses: LocalSenses) -> None:
    """Code with an import is not tried; its miner plays the round without truth, but has no vote beside the right."""
    code = "Doubling is a multiplication by two.\n\n```python\n{}def twice(x):\n    return {}\n```\n\n{}"
    texts = {
        "right": code.format("", "2 * x", "The function multiplies its argument."),
        "also": code.format("", "x + x", "Adding a number to itself gives the double."),
        "import": code.format("import math\n", "math.prod([x, 2])", "The product of both is the double."),
        "wrong": code.format("", "x * x", "The square is computed here."),
    }
    reference = {"kind": "function", "name": "twice", "cases": [[[3], 6], [[5], 10]]}
    observation, scored = play(
        senses, texts, prompt="Write twice(x) in Python: it doubles a number.", reference=reference, prose=False
    )
    assert scored.summary["truth"] == {"also": 1.0, "right": 1.0, "wrong": 0.0}
    parts = {score.hotkey: score.parts for score in scored.scores}
    assert "truth_factor" not in (parts["import"] or {})
    assert "cannot be judged" in str(INFERENCE.explain(PARAMS, observation, scored, "import"))
    assert "import" not in {s.hotkey for s in INFERENCE.stand(PARAMS, (), scored)}


def test_an_explanation_says_what_was_expected_and_read(senses: LocalSenses) -> None:
    observation, scored = play(senses, MAJORITY)
    told = str(INFERENCE.explain(PARAMS, observation, scored, "liar-1"))
    assert "expected (value): 180" in told
    assert "read from the answer: 190" in told
    assert "truth factor = 0.1 + 0.9·0 = 0.1" in told
    score = next(one for one in scored.scores if one.hotkey == "liar-1")
    assert score.parts is not None
    assert INFERENCE.recompute(score.parts) == score.value
    advice = INFERENCE.advise(PARAMS, [(score, scored.scores[0])] * 3)
    assert any(one.title == "Get the answer right" for one in advice)


def test_a_question_of_the_command_line_may_have_a_reference() -> None:
    rows = [{"hotkey": "a", "text": "180", "seconds": 1.0}]
    asked = parse_question({"prompt": PROMPT, "reference": REFERENCE, "answers": rows})
    assert asked.task.body["reference"] == REFERENCE
    with pytest.raises(WeighbeamError, match="bad_reference"):
        parse_question({"prompt": PROMPT, "reference": {"kind": "value"}, "answers": rows})


def test_a_caller_from_outside_cannot_set_a_reference(senses: LocalSenses) -> None:
    observation, _ = play(senses, MAJORITY, kind="organic")
    assert "reference" not in observation.facts["task"]
    assert "reference" not in INFERENCE.pose(PARAMS, ask(MAJORITY, "organic").task)


def test_text_is_judged_only_where_the_sense_is_to_be_used(senses: LocalSenses) -> None:
    claims = {"kind": "text", "claims": ["The orchard has 180 trees."]}
    observation, _ = play(senses, MAJORITY, reference=claims)
    assert "reference" not in observation.facts["task"]
    params = InferenceParams(reference_entailment=True)
    judged = INFERENCE.observe(params, ask(MAJORITY, reference=claims), senses)
    assert judged.facts["task"]["reference"] == claims
    assert judged.facts["senses"] == INFERENCE.name_senses(params, senses)
    assert INFERENCE.score(params, judged).summary["truth"]["good"] == 1.0


def scored_with(truth: dict[str, float]) -> Scored:
    return Scored((), {"truth": truth})


def test_the_record_of_a_miner() -> None:
    after = INFERENCE.stand(PARAMS, (), scored_with({"a": 0.0, "b": 1.0}))
    assert [(s.hotkey, s.value, s.detail["truth"], s.detail["checked"]) for s in after] == [
        ("a", None, pytest.approx(0.6), 1),
        ("b", None, pytest.approx(0.8), 1),
    ]
    assert after[0].detail["factor"] == pytest.approx(0.8**6)
    assert after[1].detail["factor"] == 1.0
    assert INFERENCE.stand(PARAMS, after, Scored((), {})) == after


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(0, 1), max_size=30), st.floats(0, 1))
def test_truth_stays_in_bounds_and_never_pays_a_lie(found: list[float], last: float) -> None:
    standings: Sequence[Standing] = ()
    for truth in found:
        standings = INFERENCE.stand(PARAMS, standings, scored_with({"a": truth}))
    honest = INFERENCE.stand(PARAMS, standings, scored_with({"a": 1.0}))[0].detail
    lying = INFERENCE.stand(PARAMS, standings, scored_with({"a": last}))[0].detail
    for detail in (honest, lying):
        assert 0 <= detail["truth"] <= 1
        assert 0 <= detail["factor"] <= 1
    assert lying["factor"] <= honest["factor"]


def test_the_engine_multiplies_the_average_by_the_factor() -> None:
    state = ReplayState(standings=(Standing("liar", None, {"truth": 0.4, "checked": 3, "factor": 0.0625}),))
    for number in range(4):
        scored = Scored((), {"emissions": {}})
        state.take(f"r{number}", float(number), (), scored, state.standings)
    from weighbeam.engine.rules.averages import Evaluation

    state.emissions = {name: [Evaluation(1.0, "r", 1.0)] for name in ("liar", "honest")}
    weighing = Weighing.plan({"liar": 0, "honest": 1}, 2.0, WeighInLimits(), Averaging())
    standings = {s.hotkey: s.value for s in state.stand(INFERENCE, ["liar", "honest"], 2.0, weighing.averaging, True)}
    assert standings["honest"] == 0.3
    assert standings["liar"] == 0.0625 * 0.3


@pytest.fixture
def journal(senses: LocalSenses, tmp_path: Path) -> Journal:
    journal = Journal(Store(f"sqlite:///{tmp_path / 'journal.db'}"))
    for number in range(3):
        asked = ask(MAJORITY)
        observation = INFERENCE.observe(PARAMS, asked, senses)
        named = hash_params(INFERENCE, PARAMS, observation.facts["senses"])
        facts = RoundFacts(
            f"round-{number}", "inference", PARAMS.model_dump(mode="json"), named, "s", number, 1000.0 + number, ()
        )
        journal.record(facts, asked, observation)
        journal.commit(f"round-{number}", INFERENCE)
    return journal


def test_a_journal_with_references_replays_to_the_bit(journal: Journal) -> None:
    assert {result.fault for result in replay(journal.store, lambda _: INFERENCE)} == {None}
    with journal.store.read() as connection:
        kept = {s.hotkey: s.detail for s in select_standings(connection, "inference")}
        trends = select_trends(connection, INFERENCE, Averaging())
    assert kept["liar-0"] == {"truth": 0.384, "checked": 3, "factor": pytest.approx(0.512**6)}
    assert kept["good"] == {"truth": pytest.approx(0.872), "checked": 3, "factor": 1.0}
    assert (trends["good"].standing or 0) > 50 * (trends["liar-0"].standing or 0) > 0


def test_a_departed_hotkey_is_forgotten(senses: LocalSenses) -> None:
    observation, _ = play(senses, MAJORITY)
    before = (Standing("gone", None, {"truth": 0.1, "checked": 9, "factor": 0.0}),)
    _, after = apply_round(INFERENCE, PARAMS, ["gone"], observation, before)
    assert "gone" not in {standing.hotkey for standing in after}


def test_the_stages_say_the_same(senses: LocalSenses) -> None:
    observation, scored = play(senses, MAJORITY)
    stages = INFERENCE.stages()
    for hotkey, text in MAJORITY.items():
        found = call_stage(stages["inference.truth"], {"reference": REFERENCE, "text": text})
        assert found["truth"] == scored.summary["truth"][hotkey]
    assert json.dumps(observation.facts)


def test_an_old_record_plays_without_references() -> None:
    from weighbeam.mechanism.params import recall_params

    recalled = recall_params(INFERENCE, {"min_miners": 3})
    assert isinstance(recalled, InferenceParams)
    assert (recalled.reference_share, recalled.reference_entailment) == (0.0, False)
