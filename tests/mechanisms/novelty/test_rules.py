"""The pure rules of novelty against plain oracles, and the properties that money needs."""

import unicodedata
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanism.checks import check_mechanism
from weighbeam.mechanism.records import Score, Scored, Standing
from weighbeam.mechanisms.novelty.identity import normalise_form
from weighbeam.mechanisms.novelty.measure import LONGEST_TOKEN, cut_tokens, find_windows, split_tokens
from weighbeam.mechanisms.novelty.mechanism import Novelty
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.reward import fitted_units, parse_similarity, reward_units
from weighbeam.mechanisms.novelty.score import has_expired, stand_round
from weighbeam.senses.local import LocalSenses

PARAMS = NoveltyParams()
micros = st.integers(-1_000_000, 1_000_000)
texts = st.text(st.characters(codec="utf-8"), max_size=60)


def test_the_mechanism_keeps_the_contract() -> None:
    check_mechanism(Novelty(), LocalSenses())


@given(micro=micros)
def test_the_reward_is_the_formula_to_the_unit(micro: int) -> None:
    """By logarithms of 90 digits, where the code takes powers of 60."""
    if micro > 950_000:
        assert reward_units(micro, PARAMS) == 0
        return
    with localcontext() as context:
        context.prec = 90
        power = Decimal(950_000 - micro) / 50_000
        exact = Decimal("0.01") * (power * Decimal(10).ln()).exp() * 10**9
        wanted = min(int(exact.quantize(Decimal(1))), 100 * 10**9)
    assert reward_units(micro, PARAMS) == wanted


@given(near=micros, far=micros)
def test_what_is_less_alike_is_never_paid_less(near: int, far: int) -> None:
    near, far = max(near, far), min(near, far)
    assert reward_units(near, PARAMS) <= reward_units(far, PARAMS) <= 100 * 10**9


def test_every_twentieth_is_exactly_tenfold() -> None:
    paid = [reward_units(micro, PARAMS) for micro in range(950_000, 749_999, -50_000)]
    assert paid == [10**7, 10**8, 10**9, 10**10, 10**11]


@given(micro=st.integers(750_000, 950_000))
def test_the_fitted_curve_differs_by_a_hundred_thousandth(micro: int) -> None:
    paid, fitted = reward_units(micro, PARAMS), fitted_units(micro, PARAMS)
    assert abs(fitted - paid) <= Fraction(12, 10**6) * paid + 1


def test_odd_curves_neither_hang_nor_overflow() -> None:
    steep = NoveltyParams(similarity_step=1e-6, reward_factor=1e6)
    assert reward_units(-1_000_000, steep) == 100 * 10**9
    flat = NoveltyParams(reward_factor=1.0)
    assert reward_units(-1_000_000, flat) == reward_units(950_000, flat) == 10**7
    nothing = NoveltyParams(min_reward=0.0)
    assert reward_units(0, nothing) == 0


@pytest.mark.parametrize("value", [1.00002, -1.00002, float("nan"), float("inf"), "1", True, [], 10**400])
def test_what_is_no_similarity_is_refused(value: object) -> None:
    with pytest.raises(WeighbeamError, match="bad_similarity"):
        parse_similarity(value)


@pytest.mark.parametrize(
    "params",
    [
        {"max_reward": 0.001},
        {"similarity_step": 0},
        {"reward_factor": 0.5},
        {"base_units": 10**12, "max_reward": 1e9},
        {"max_reward": 10_000},
    ],
)
def test_params_that_cannot_pay_are_refused(params: dict) -> None:
    with pytest.raises(ValueError, match="NoveltyParams"):
        NoveltyParams(**params)


@given(text=texts)
def test_a_form_is_its_own_form_and_hides_no_variant(text: str) -> None:
    form = normalise_form(text)
    assert normalise_form(form) == form
    assert normalise_form(f" {text}\n") == form
    assert normalise_form(text.replace(" ", "\u2003 ")) == form


@given(text=st.text("abcXYZäßΣ éﬁＡ", max_size=40))
def test_case_width_and_spelling_do_not_matter(text: str) -> None:
    forms = {normalise_form(variant) for variant in (text, text.upper(), text.lower(), text.swapcase())}
    forms |= {normalise_form(unicodedata.normalize(kind, text)) for kind in ("NFC", "NFD", "NFKC", "NFKD")}
    assert len(forms) == 1


@given(count=st.integers(1, 400), size=st.integers(2, 60))
def test_every_half_piece_lies_whole_in_some_piece(count: int, size: int) -> None:
    windows = find_windows([1] * count, size, 10**6)
    assert all(0 < stop - start <= size for start, stop in windows)
    half = min(count, size // 2)
    whole = {start + offset for start, stop in windows for offset in range(stop - start - half + 1)}
    assert whole >= set(range(count - half + 1))


@given(
    counts=st.lists(st.integers(0, 90), min_size=1, max_size=120), size=st.integers(2, 40), room=st.integers(90, 254)
)
def test_no_piece_is_longer_than_what_is_read_and_every_token_is_in_one(
    counts: list[int], size: int, room: int
) -> None:
    windows = find_windows(counts, size, room)
    assert all(stop - start <= size and sum(counts[start:stop]) <= room for start, stop in windows)
    assert {place for start, stop in windows for place in range(start, stop)} == set(range(len(counts)))
    assert windows == sorted(set(windows))
    assert len(windows) <= 2 + 4 * len(counts)


@given(text=st.text("ab \n", max_size=600))
def test_tokens_are_the_text(text: str) -> None:
    tokens = split_tokens(text)
    assert all(0 < len(token) <= LONGEST_TOKEN for token in tokens)
    assert "".join(tokens) == "".join(text.split())
    if tokens:
        assert cut_tokens(text, tokens, [1] * len(tokens), 10**6, 10**6)[0].split() == (
            text.split() if len(tokens) == len(text.split()) else tokens
        )


def make_scored(at: float, **units: int) -> Scored:
    scores = (
        Score(name, "valid", float(value), {"contributions": [{"status": "paid", "units": value, "at": None}]})
        for name, value in units.items()
    )
    return Scored(tuple(scores), {"at": at})


@given(rounds=st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 10**11)), max_size=20))
def test_a_window_holds_what_was_earned_in_it(rounds: list[tuple[int, int]]) -> None:
    standings: tuple[Standing, ...] = ()
    now = 0
    earned: list[tuple[int, int]] = []
    for step, units in rounds:
        now += step * 60
        earned.append((now, units))
        standings = stand_round(PARAMS, standings, make_scored(float(now), ada=units))
        (standing,) = standings
        assert standing.value == float(sum(value for at, value in earned if at > now - 86_400))
        assert standing.detail["balance"] == sum(value for _, value in earned)
        assert not has_expired(standings, float(now), PARAMS)
    if standings and standings[0].value:
        assert has_expired(standings, now + 86_400.0, PARAMS)
