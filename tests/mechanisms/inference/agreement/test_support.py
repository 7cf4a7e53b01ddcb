"""Short answers that deny, list or fall short of a quorum; answers put together from earlier ones; claims held against
what came of them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.core.quantise import MILLION
from weighbeam.mechanisms.inference.agreement.claims import Claims, count_candidates, measure_agreement
from weighbeam.mechanisms.inference.agreement.filter import ReceivedAnswers
from weighbeam.mechanisms.inference.composite import rank_points, rate_claim
from weighbeam.mechanisms.inference.judge import JudgedRound, RoundInput, judge_round
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.text.counts import ParsedText, count_borrowed
from weighbeam.mechanisms.inference.text.traits import find_fresh, read_prompt
from weighbeam.mechanisms.inference.text.words import DENIAL

PARAMS = InferenceParams()
shares = st.floats(0, 1)


def claim(*said: list[set[str]]) -> Claims:
    """Short answers by the new stems of their sentences."""
    fresh = [frozenset[str]().union(*own) for own in said]
    size = len(said)
    return Claims(
        kind="short",
        heard=[True] * size,
        fresh=fresh,
        cosines=np.eye(size),
        to_prompt=np.zeros(size),
        support=np.eye(size),
        values=[],
        trials=None,
        results=[],
        contradiction=None,
        said=[[frozenset(part) for part in own] for own in said],
    )


def judge(agreement: np.ndarray, params: InferenceParams = PARAMS, **changed: object) -> JudgedRound:
    size = len(agreement)
    received = ReceivedAnswers(
        hotkeys=tuple(f"m{number}" for number in range(size)),
        quality=np.full(size, 0.6),
        words=np.full(size, 40),
        entities=(None,) * size,
        similarity=np.where(np.eye(size, dtype=bool), 1.0, 0.6),
        agreement=agreement,
        kind="open",
    )
    confidence = changed.pop("confidence", (None,) * size)
    given = RoundInput(
        replace(received, **changed),  # type: ignore[arg-type]
        (1.0,) * size,
        confidence,  # type: ignore[arg-type]
        (None,) * size,
        {},
    )
    return judge_round(given, params)


def alike(size: int, share: float) -> np.ndarray:
    return np.where(np.eye(size, dtype=bool), 1.0, share)


def test_those_who_deny_agree_in_whatever_words() -> None:
    prompt = read_prompt(ParsedText("Can reindeer really fly?"))
    texts = [ParsedText(text) for text in ("No.", "They can't.", "Reindeer never fly.", "Yes, they can.")]
    fresh = find_fresh(texts, prompt, "short").each
    assert [DENIAL in one for one in fresh] == [True, True, True, False]
    assert not any(DENIAL in one for one in find_fresh(texts, prompt, "open").each)


def test_denial_is_nothing_new_where_the_question_denies() -> None:
    prompt = read_prompt(ParsedText("What can you not do?"))
    assert find_fresh([ParsedText("You do not fly.")], prompt, "short").each == [frozenset({"fly"})]


def test_naming_two_candidates_divides_the_support() -> None:
    claims = claim([{"rugby"}], [{"golf"}], [{"rugby", "golf"}], [{"rugby"}, {"scrum", "try", "ball"}])
    assert [count_candidates(claims, row) for row in range(4)] == [1, 1, 2, 1]
    found = measure_agreement(claims) / MILLION
    assert found[2, 0] < found[3, 0]
    assert found[0, 2] < found[0, 3], "a divided vote supports less"


def test_candidates_cut_into_sentences_are_still_listed() -> None:
    claims = claim([{"rugby"}], [{"golf"}], [{"polo"}], [{"rugby"}, {"golf"}, {"polo"}])
    assert count_candidates(claims, 3) == 3


def test_reasons_may_name_another_answer() -> None:
    told = {"televi", "cursed", "videot", "girl", "well", "seven"}
    claims = claim([{"televi"}], [{"videot"}], [{"televi"}, told])
    assert count_candidates(claims, 2) == 1


@pytest.mark.parametrize(("quorum", "inside"), [(0.0, 2), (0.4, 2), (0.5, 0)])
def test_two_of_five_are_a_consensus_only_below_their_share(quorum: float, inside: int) -> None:
    agreement = alike(5, 0.05)
    agreement[0, 1] = agreement[1, 0] = 0.9
    judged = judge(agreement, PARAMS.model_copy(update={"quorum": quorum}), kind="short")
    assert len(judged.inside) == inside


def test_open_questions_know_no_quorum() -> None:
    similarity = alike(5, 0.1)
    similarity[0, 1] = similarity[1, 0] = 0.9
    assert len(judge(alike(5, 0.4), similarity=similarity).inside) == 2


def test_only_earlier_answers_are_borrowed_from() -> None:
    texts = [ParsedText(text) for text in ("red light is bent less", "blue light is bent more than red light is bent")]
    assert [taken for _, taken, _ in count_borrowed(texts, ParsedText("Why?"), [1.0, 2.0])] == [0, 2]
    assert [taken for _, taken, _ in count_borrowed(texts, ParsedText("Why?"), [2.0, 1.0])] == [2, 0]
    assert [taken for _, taken, _ in count_borrowed(texts, ParsedText("Why?"), [1.0, 1.0])] == [0, 0]


def test_a_version_of_the_text_itself_is_left_aside() -> None:
    texts = [
        ParsedText(text) for text in ("red light is bent less than blue light", "red light is bent less than blue")
    ]
    assert list(count_borrowed(texts, ParsedText("Why?"), [1.0, 2.0])) == [(6, 0, 0), (5, 5, 0)]


def test_copies_share_their_pay_whoever_was_first() -> None:
    similarity, overlap = alike(4, 0.6), np.eye(4)
    similarity[2, 3] = similarity[3, 2] = overlap[2, 3] = overlap[3, 2] = 1.0
    given = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    paid = judge(alike(4, 0.7), similarity=similarity, overlap=overlap, borrowed=given).paid.emissions
    assert paid["m2"] == paid["m3"] > 0


def test_an_answer_put_together_from_earlier_ones_is_not_paid_and_those_are() -> None:
    judged = judge(alike(4, 0.7), borrowed=np.array([[0.0, 0.0], [0.1, 0.1], [0.7, 0.7], [1.0, 1.0]]))
    paid = judged.paid.emissions
    assert paid["m3"] == 0.0
    assert paid["m0"] == paid["m1"] == paid["m2"] > 0


def test_equal_texts_that_were_asked_for_are_not_borrowed() -> None:
    assert judge(alike(4, 0.7), borrowed=np.ones((4, 2)), exact=True).paid.emissions["m3"] > 0


@given(shares, shares)
def test_no_claim_beats_the_one_that_comes_true(claimed: float, rank: float) -> None:
    assert rate_claim(claimed, rank) <= rate_claim(rank, rank) + 1e-9
    assert rate_claim(0.5, rank) == 0.5


@given(st.lists(st.floats(0, 100), min_size=1, max_size=9))
def test_ranks_are_half_on_average(points: list[float]) -> None:
    assert sum(rank_points(points)) == pytest.approx(len(points) / 2)


def test_claiming_everything_in_the_middle_of_the_field_loses() -> None:
    sure = judge(alike(4, 0.7), confidence=(1.0, None, None, None))
    assert sure.parts["m0"]["confidence"] < sure.parts["m1"]["confidence"] == 7.5
    before = judge(alike(4, 0.7), PARAMS.model_copy(update={"calibration": False}), confidence=(1.0, None, None, None))
    assert before.parts["m0"]["confidence"] == 15.0
