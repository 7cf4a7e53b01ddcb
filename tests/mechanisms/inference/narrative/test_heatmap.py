"""The heatmap of a recorded round: who is in it, in which order, and what its title says."""

from dataclasses import replace

import numpy as np
import pytest

from weighbeam.mechanism.checks import watch_calls
from weighbeam.mechanism.records import Answer, Asked, Group, Observation, Task
from weighbeam.mechanisms.inference.examples import example_rounds
from weighbeam.mechanisms.inference.mechanism import Inference
from weighbeam.mechanisms.inference.miners.handlers import GARBAGE
from weighbeam.mechanisms.inference.miners.prepared_answers import find_answers, load_prompts
from weighbeam.mechanisms.inference.narrative.heatmap import arrange_heatmap
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.score import replay_round
from weighbeam.senses.local import LocalSenses

INFERENCE, PARAMS = Inference(), InferenceParams()
PROMPT, OTHER = sorted(load_prompts())[:2]


def observe(senses: LocalSenses, texts: dict[str, str], prompt: str = PROMPT) -> Observation:
    answers = tuple(Answer(hotkey, {"text": text}, 1.0) for hotkey, text in texts.items())
    return INFERENCE.observe(PARAMS, Asked(Task("t", {"prompt": prompt}), Group(tuple(texts)), answers, "s"), senses)


def honest() -> dict[str, str]:
    return {f"voice-{number}": text for number, text in enumerate(find_answers(PROMPT))}


def test_everyone_who_answered_is_in_it_and_the_flagged_come_last(senses: LocalSenses) -> None:
    texts = {"a-garbage": GARBAGE, **honest(), "b-empty": ""}
    drawn = arrange_heatmap(PARAMS, observe(senses, texts), "r-1")
    assert sorted(drawn.hotkeys) == sorted(texts)
    assert drawn.hotkeys[-2:] == ("a-garbage", "b-empty")
    assert drawn.flagged == (False,) * (len(texts) - 2) + (True, True)
    assert drawn.clusters[-2:] == (None, None)
    assert "× in red: 2 flagged for low quality" in drawn.subtitle


def test_an_answer_without_words_is_like_no_other(senses: LocalSenses) -> None:
    drawn = arrange_heatmap(PARAMS, observe(senses, {**honest(), "zz-empty": ""}), "r-1")
    assert drawn.similarity[-1].tolist() == [0.0] * (len(drawn) - 1) + [1.0]


def test_cells_follow_their_rows(senses: LocalSenses) -> None:
    observation = observe(senses, {"a-garbage": GARBAGE, **honest()})
    drawn, received = arrange_heatmap(PARAMS, observation, "r-1"), replay_round(PARAMS, observation).given.received
    places = [received.hotkeys.index(hotkey) for hotkey in drawn.hotkeys]
    assert places != sorted(places)
    assert np.array_equal(drawn.similarity, received.similarity[np.ix_(places, places)])


def test_clusters_are_those_judged_the_dominant_first_and_copies_beside_their_original(senses: LocalSenses) -> None:
    first, *rest = find_answers(PROMPT)
    stranger = "Bread dough rises while yeast turns sugar into carbon dioxide within a warm kitchen, as Pasteur showed."
    texts = {"b": first, "z": first, **{f"c{number}": text for number, text in enumerate(rest)}, "a": stranger}
    loose = PARAMS.model_copy(update={"quality_threshold": 0.0, "outlier_detection": False, "quality_filtering": False})
    observation = observe(senses, texts)
    drawn, filtered = arrange_heatmap(loose, observation, "r"), replay_round(loose, observation).judged.filtered
    assert filtered.dominant == filtered.clusters[1]
    assert drawn.hotkeys == ("b", "c0", "c1", "c2", "z", "a", "c3")
    assert drawn.clusters == (1, 1, 1, 1, 1, 2, 3)


def test_the_title_says_round_score_and_verdict(senses: LocalSenses) -> None:
    observation = observe(senses, honest())
    summary = INFERENCE.score(PARAMS, observation).summary
    assert summary["achieved"]
    assert arrange_heatmap(PARAMS, observation, "r-7").title == (
        f"Round r-7: consensus {summary['consensus_score']:.3f}, achieved"
    )
    strict = PARAMS.model_copy(update={"consensus_threshold": 1.9})
    assert arrange_heatmap(strict, observation, "r-7").title.endswith(", not achieved")


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_void_round_says_so(senses: LocalSenses, count: int) -> None:
    texts = dict(list(honest().items())[:count])
    observation = observe(senses, texts)
    drawn = arrange_heatmap(PARAMS, observation, "r")
    assert len(drawn) == count
    assert drawn.title == "Round r: void, too few answers to score"


def test_a_hostile_round_id_leaves_the_title_whole(senses: LocalSenses) -> None:
    title = arrange_heatmap(PARAMS, observe(senses, honest()), "\u202e\x00\n" + "9" * 10_000).title
    assert title.startswith("Round ···999")
    assert title.endswith("achieved")
    assert len(title) < 120


def test_every_example_has_one_and_it_is_pure(senses: LocalSenses) -> None:
    for asked in example_rounds():
        observation = INFERENCE.observe(PARAMS, asked, senses)
        with watch_calls() as caught:
            drawn = arrange_heatmap(PARAMS, observation, "r")
        assert caught == []
        again = arrange_heatmap(PARAMS, replace(observation), "r")
        assert np.array_equal(drawn.similarity, again.similarity)
        assert len(drawn.hotkeys) == len(drawn.clusters) == len(drawn.flagged) == len(drawn.similarity)
