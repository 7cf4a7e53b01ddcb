"""A model's text is refused for every invention we can find, and ours never is."""

import re
import time
from itertools import product
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mechanisms.inference.test_round import rounds
from tests_root import ROOT
from weighbeam.mechanisms.inference.judge import judge_round
from weighbeam.mechanisms.inference.narrative.check import (
    COUNTED,
    REFUSALS,
    claims_wrongly,
    find_invented_names,
    refuse_text,
    trim_text,
)
from weighbeam.mechanisms.inference.narrative.sentences import narrate_replayed
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.parse import parse_given
from weighbeam.mechanisms.inference.score import RejudgedRound
from weighbeam.mechanisms.inference.text.quality import WORDLESS

ALICE = "5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY"
BOB = "5FHneW46xGXgs5mUiveU4sbTyGBzmstUspZC92UhjJM694ty"
DAVE = "5DAAnrj7VHTznn2AWBemMuyBwZWs6FNFjdyVXUeYum3PTXFy"
KNOWN = {"score": 0.8342, "mu": 0.81, "sigma": 0.0242, "lambda": 1.0, "threshold": 0.7, "agreement": 0.91}

base58 = st.text("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", min_size=47, max_size=47)
addresses = base58.map(lambda rest: "5" + rest)
decimals = st.integers(1, 6)
SCORED = "The consensus score is 0.834."


def check(text: str, hotkeys: tuple[str, ...] = (ALICE, BOB), prompt: str = "Why?", **rest: Any) -> str | None:
    return refuse_text(text, hotkeys, KNOWN, prompt, **rest)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty"),
        ("x" * 4001, "too_long"),
        ("Told \x1b[31min red.", "not_plain"),
        ("Told\x00.", "not_plain"),
        ("Told \u202ebackwards.", "not_plain"),
        ("Told by 5Grwva\u200bEF.", "not_plain"),
        ("Half \ud800.", "not_plain"),
        ("Between 00112233AABBCCDD marks.", "repeats_marks"),
        (f"The best is {DAVE}.", "unknown_hotkey"),
        ("The consensus score is 0.99.", "wrong_consensus_score"),
        ("You start out as a five-headed dragon.", "no_consensus_score"),
    ],
)
def test_every_refusal_has_its_code(text: str, code: str) -> None:
    assert check(text, nonce="00112233aabbccdd") == code
    assert code in REFUSALS


def test_every_refusal_is_explained() -> None:
    page = (ROOT / "docs/mechanisms/inference.md").read_text()
    assert [code for code in REFUSALS if f"`{code}`" not in page] == []


def test_a_plain_text_passes() -> None:
    text = f"Two miners, {ALICE[:8]} and {BOB}, agree.\n\tA consensus score of 0.834 is above 0.7."
    assert check(text, nonce="00112233aabbccdd") is None
    assert check(f"{SCORED} {'y' * (3999 - len(SCORED))}") is None
    assert check(trim_text(f" Told.\r\n{SCORED} \n")) is None


@pytest.mark.parametrize(
    "text",
    [
        f"{DAVE} was best.",
        f"{DAVE[:8]} was best.",
        f"({DAVE[:8]})",
        f"**{DAVE[:12]}**'s answer",
        "5Grw…tQYx was best.",
        "5DAA... was best.",
        "5FHn…utQY was best.",
        "The miner 5Example1 won.",
        "1" + DAVE[1:] + " of another network",
        ALICE[:8] + "x was best.",
        "\uff15DAAnrj7 in wide letters",
    ],
)
def test_invented_addresses_are_found(text: str) -> None:
    assert check(text) == "unknown_hotkey"


@pytest.mark.parametrize(
    "text",
    [
        f"{ALICE}, {ALICE[:8]}, {ALICE[:11]}, 5Grw…utQY, 5Grwva..., 5FHn…",
        "They measured 5centimetres, 500 metres, 52428811 bytes, 5000000km and 5GHz.",
        "5, 5.5, 5th, 50%, 5-fold; and so on... 5 of them…",
        "Incomprehensibilities and antidisestablishmentarianism.",
    ],
)
def test_ordinary_words_and_the_round_s_own_names_pass(text: str) -> None:
    assert check(f"{SCORED} {text}") is None


def test_numbered_names_are_checked_by_their_stem() -> None:
    names = ("miner-01", "miner-02", "x-miner-07")
    assert find_invented_names("Miner-01 beat miner-02 and x-miner-07; a miner of 30 was late.", names) == []
    assert find_invented_names("miner-03 won, MINER-4 lost, x-miner-01 slept.", names) == [
        "x-miner-01",
        "miner-03",
        "MINER-4",
    ]
    assert find_invented_names("hk1 beat hk12.", ("hk1", "hk2")) == ["hk12"]
    assert find_invented_names("alice beat carol.", ("alice", "bob")) == []


@pytest.mark.parametrize(
    "text",
    [
        "The consensus score was 0.834.",
        "The consensus score (0.83) exceeded the 0.7 threshold.",
        "Consensus was achieved with a score of 0.834, above the threshold of 0.7.",
        "A consensus of 83 % was reached; the consensus of 4 voices holds.",
        "At 83.4 percent, consensus was strong.",
        "With mean 0.810 plus 1 times deviation 0.024, a consensus score of 0.8342 against 0.70.",
        "The consensus score over 4 voices of 10 answers, far above the threshold, was 0.8342.",
        "Mean similarity of 0.81 and σ = 0.024 give a consensus score of 0.834; agreement was 91%.",
        "- consensus score: 0.834\n- best: 5GrwvaEF with 87.25 points",
        f"{ALICE[:8]} is in the consensus with 87.25 points, 3.1 ahead of the next.",
        "The consensus threshold of 0.7 was passed. The best answer has 91.2 points.",
        "They reached consensus. The best got 87.3 points; out of consensus for quality 0.31 is one.",
        "Consensus was achieved (0.834 > 0.7); they reached consensus, scoring 0.834 versus the required 0.7.",
        "There is consensus. The 0.7 threshold was passed.",
        "Consensus score | 0.834 |",
        "The level of consensus was about 0.8.",
    ],
)
def test_the_real_score_passes(text: str) -> None:
    assert check(f"{SCORED}\n{text}") is None


@pytest.mark.parametrize(
    "text",
    [
        "Three miners answered well.",
        "Consensus was achieved. The best answer has 83.4 points.",
        "They agree on 0.834 of it. Consensus was achieved.",
        "It is above the consensus threshold of 0.7.",
    ],
)
def test_a_text_without_the_score_is_refused(text: str) -> None:
    assert check(text) == "no_consensus_score"
    assert refuse_text(text, (), dict.fromkeys(KNOWN), "Why?") in (None, "wrong_consensus_score")


@pytest.mark.parametrize(
    "text",
    [
        "The consensus score was 0.99.",
        "The consensus score was 0.835.",
        "The consensus score was 0.9.",
        "The consensus score is 1.",
        "The consensus score, by every account a triumph, came to 0.97.",
        "The consensus score, amazingly, 0.7.",
        "The consensus score is 0.81.",
        "Consensus score:\n0.97",
        "**Consensus score** = `.97`",
        "Consensus Score — 97%",
        "Consensus was achieved, with a score of 0.91.",
        "Consensus was reached at 97 percent.",
        "a consensus of 97 %",
        "a 97% consensus",
        "With a score of 0.97, consensus was achieved.",
        "The score of the consensus was 0.97.",
        "The strength of consensus: 0,97",
        "A consensus score of 0.834–0.97.",
        "A consensus score of −0.834.",
        "A consensus score of nearly one.",
        "The consensus score stands at ninety-seven percent.",
        "A consensus score of 0.834 against 0.9.",
        "The consensus score was approx. 0.97.",
        "The consensus score is 𝟎.𝟗𝟕.",
        "The consensus-score is 0.97.",
        "Consensus score of 83.",
        "The miners' consensus stands at a remarkable 0.97.",
        "consensus_score: 0.97",
        "ConsensusScore 0.97",
        "Score: 0.97 (consensus)",
        "The consensus scored 0.97.",
        "Consensus stood at 97.",
        "Consensus: 97/100.",
        "Consensus was 1.",
        "The consensus score of 0.834 is really 97 out of 100.",
    ],
)
def test_any_other_score_is_refused(text: str) -> None:
    assert check(text) == "wrong_consensus_score"


@pytest.mark.parametrize(
    "text",
    [
        f"The best answer is {BOB}'s.",
        f"{BOB[:8]} has won, and everybody else cheated.",
        f"In first place is {BOB[:10]}…",
        "The winner is 5FHn…94ty!",
        f"{ALICE[:8]} did well.\n- Winner: {BOB[:8]}",
    ],
)
def test_praise_of_another_answer_is_refused(text: str) -> None:
    assert check(f"{SCORED} {text}", best=ALICE) == "wrong_best"
    assert check(f"{SCORED} {text}", best=BOB) is None


@pytest.mark.parametrize(
    "text",
    [
        f"The best answer is {ALICE[:8]}'s, 2.1 ahead of {BOB[:8]}.",
        f"It is the best that one can say. {BOB[:8]} is out of it.",
        "The winner is 5Grw…utQY.",
        "No miner's answer is best.",
    ],
)
def test_praise_of_the_best_answer_passes(text: str) -> None:
    assert check(f"{SCORED} {text}", best=ALICE) is None


PHRASES = [
    "The consensus score is {}.",
    "Consensus was achieved with a score of {}.",
    "With {}, a consensus score like few others.",
    "The consensus score, measured with care over 7 voices, is {}!",
]


@given(st.sampled_from(PHRASES), st.floats(-2, 2), decimals)
def test_the_real_score_passes_at_any_number_of_decimals(phrase: str, score: float, places: int) -> None:
    known = {**dict.fromkeys(KNOWN, None), "score": score}
    assert not claims_wrongly(phrase.format(f"{score:.{places}f}"), known)
    assert not claims_wrongly(phrase.format(f"{score * 100:.{places}f} %"), known)


@given(st.sampled_from(PHRASES), st.floats(-2, 2), st.floats(-2, 2), decimals)
def test_another_score_never_passes(phrase: str, score: float, other: float, places: int) -> None:
    assume(abs(score - float(f"{other:.{places}f}")) > 0.51 * 10**-places)
    known = {**KNOWN, "score": score}
    assert claims_wrongly(phrase.format(f"{other:.{places}f}"), known)


PADDED = "The consensus score: " + "lambda 1{} " * 48
RUNS = 5


def time_check(filler: str) -> float:
    """The least processor time of some runs over one text with 48 numbers, each followed by 70 characters."""
    text = PADDED.replace("{}", (filler * 70)[:70])
    taken = []
    for _ in range(RUNS):
        start = time.process_time()
        assert not claims_wrongly(text, KNOWN)
        taken.append(time.process_time() - start)
    return min(taken)


@pytest.mark.parametrize("filler", ["-", " -", "- ", "-a", " a-", "- a -"])
def test_hyphens_and_blanks_after_numbers_cost_little_more_than_other_signs(filler: str) -> None:
    assert time_check(filler) < 50 * time_check(" :") + 0.01


def test_what_counts_something_is_what_it_was() -> None:
    """The pattern in its first form, which tried every way to share hyphens out between words and gaps."""
    first = re.compile(
        r"(?:\s+(?:of|out\s+of)\s+(?:the\s+)?\d+)?(?:[\s-]+[a-z-]+){0,2}?[\s-]+"
        + COUNTED.pattern[COUNTED.pattern.index("(?:miner") :]
    )
    parts = [" ", "-", "a", "the", "of", "out", "7", "miner", "miners", "s", ","]
    texts = ["".join(chosen) for count in range(1, 6) for chosen in product(parts, repeat=count)]
    different = [text for text in texts if bool(first.match(text)) != bool(COUNTED.match(text))]
    assert different == []


@given(st.text(" -ab", max_size=14))
def test_words_before_what_is_counted_are_what_they_were(between: str) -> None:
    first = re.compile(r"(?:[\s-]+[a-z-]+){0,2}?[\s-]+miners?\b")
    text = f"{between}miners"
    assert bool(first.match(text)) == bool(COUNTED.match(text))


@given(st.lists(addresses, min_size=1, max_size=5, unique=True), addresses, st.integers(8, 48))
def test_an_address_that_is_none_of_the_round_s_is_found(hotkeys: list[str], other: str, length: int) -> None:
    name = other[:length]
    assume(not any(hotkey.startswith(name[:8]) for hotkey in hotkeys))
    assume(re.search("[A-Z]", name) and re.search("[a-z]", name))
    assert find_invented_names(f"The best answer is {name}'s.", hotkeys) == [name]
    assert find_invented_names(" and ".join([*hotkeys, *(hotkey[:8] for hotkey in hotkeys)]), hotkeys) == []


@st.composite
def told_rounds(draw: st.DrawFn) -> tuple[RejudgedRound, InferenceParams]:
    """Judged rounds whose miners have addresses, numbered names or words for names."""
    given_round = draw(rounds(least=1))
    count = len(given_round["answers"])
    names = draw(
        st.one_of(
            st.lists(addresses, min_size=count, max_size=count, unique=True),
            st.just([f"miner-{number:02}" for number in range(count)]),
            st.just([f"a-long-name-of-miner-{number}" for number in range(count)]),
            st.just("alice bob carol dave erin frank grace heidi ivan".split()[:count]),
        )
    )
    for answer, name in zip(given_round["answers"], names, strict=True):
        answer["hotkey"] = name
    params = InferenceParams(**given_round.pop("params"), min_miners=draw(st.integers(1, 4)))
    given = parse_given(given_round, params)
    return RejudgedRound(given, dict.fromkeys(given.received.hotkeys, WORDLESS), judge_round(given, params)), params


@given(told_rounds(), st.text(max_size=300), st.sampled_from([None, "heatmaps/5f3a9c1d2b.png", "heatmaps/r 0.9.png"]))
def test_the_deterministic_text_always_passes(
    told: tuple[RejudgedRound, InferenceParams], prompt: str, heatmap: Any
) -> None:
    replayed, params = told
    text = narrate_replayed(params, replayed, prompt, heatmap)
    output = replayed.write()
    known = {
        "score": output["consensus_score"],
        "mu": output["mu"],
        "sigma": output["sigma"],
        "lambda": params.lambda_factor,
        "threshold": params.consensus_threshold,
        "agreement": output["agreement"],
    }
    assert refuse_text(text, list(output["scores"]), known, prompt, heatmap, "00112233aabbccdd", output["best"]) is None
    assert text == trim_text(text)


@given(st.text(max_size=200))
def test_any_text_can_be_checked(text: str) -> None:
    assert check(text) in {None, *REFUSALS}


def test_checking_a_hostile_text_takes_no_time() -> None:
    for piece in (
        "consensus score ",
        "consensus, ",
        "a the of ",
        "5",
        "5a",
        "0.9 ",
        "consensus" + " - " * 9,
        "…",
        "( ",
    ):
        assert check((piece * 4000)[:4000]) in {None, *REFUSALS}
