"""The price of novelty in whole units, the same on every machine, and the judgement of one contribution.

    units = min_reward · factor^((reference − similarity) / step) · base_units

Binary floats pay one unit too little at 0.90 and at other round places, so there are none here: a whole exponent is
an exact power, any other one is a decimal of 60 digits.
"""

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Literal

import numpy as np

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.numbers import is_number
from weighbeam.core.quantise import MILLION
from weighbeam.core.stats import parse_decimal
from weighbeam.mechanisms.novelty.params import NoveltyParams

NOISE = Fraction(1, 100_000)
DIGITS, KEPT = 60, 50
LARGE_POWER = 100
BEYOND: int = 10**LARGE_POWER
FITTED = (Decimal("0.002489"), Decimal("46.051702"), Decimal("0.980199"))
"""The seed's other curve, a · e^(b · (c − similarity)): for comparison, never for paying."""


def parse_similarity(value: object) -> int:
    """A similarity in millionths, halves to even; float noise around ±1 is clamped, and no corpus at all is 0.

    >>> parse_similarity(0.9500004), parse_similarity(1.0000001), parse_similarity(None)
    (950000, 1000000, 0)
    """
    if value is None:
        return 0
    given = value.item() if isinstance(value, np.generic) else value
    if not is_number(given) or abs(exact := parse_decimal(given)) > 1 + NOISE:
        raise WeighbeamError("bad_similarity", f"{value!r} is not a similarity", "give a number from -1 to 1")
    return max(-MILLION, min(MILLION, round(exact * MILLION)))


def reward_units(micro: int, params: NoveltyParams) -> int:
    """The units that a similarity of `micro` millionths pays.

    >>> [reward_units(micro, NoveltyParams()) for micro in (950_001, 950_000, 900_000, 750_000, 0)]
    [0, 10000000, 100000000, 100000000000, 100000000000]
    """
    fallen = parse_decimal(params.reference_similarity) - Fraction(micro, MILLION)
    if fallen < 0:
        return 0
    limit = round(parse_decimal(params.max_reward) * params.base_units)
    least = parse_decimal(params.min_reward) * params.base_units
    return min(limit, _grow(least, parse_decimal(params.reward_factor), fallen / parse_decimal(params.similarity_step)))


def fitted_units(micro: int, params: NoveltyParams) -> int:
    """Units by the seed's fitted curve, which differs by about a hundred-thousandth.

    >>> fitted_units(900_000, NoveltyParams())
    100001129
    """
    if Fraction(micro, MILLION) > parse_decimal(params.reference_similarity):
        return 0
    context = Context(prec=DIGITS)
    scale, rate, shift = FITTED
    power = context.multiply(rate, context.subtract(shift, context.divide(Decimal(micro), Decimal(MILLION))))
    tokens = context.multiply(scale, context.exp(power))
    units = _round(context.multiply(tokens, Decimal(params.base_units)))
    return min(round(parse_decimal(params.max_reward) * params.base_units), units)


def _grow(least: Fraction, factor: Fraction, power: Fraction) -> int:
    """`least` · `factor`^`power`, halves to even; a power beyond any cap is not computed at all."""
    if least == 0 or factor == 1:
        return round(least)
    if power.denominator == 1 and power <= LARGE_POWER:
        exact: Fraction = factor**power.numerator
        return round(least * exact)
    context = Context(prec=DIGITS)
    exponent = context.multiply(context.log10(_decimal(factor, context)), _decimal(power, context))
    if exponent > LARGE_POWER:
        return BEYOND
    grown = context.power(_decimal(factor, context), _decimal(power, context))
    return _round(context.multiply(_decimal(least, context), grown))


def _decimal(value: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def _round(value: Decimal) -> int:
    """The last digits are the power's own error: away with them before a half can be mistaken."""
    return int(Context(prec=KEPT).plus(value).to_integral_value(ROUND_HALF_EVEN))


Status = Literal["paid", "held", "duplicate", "refused"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """`units` are earned if paid, and waiting if held."""

    status: Status
    units: int


def judge(micro: int, plausible: bool, params: NoveltyParams) -> Judgement:
    """Judge a contribution that is not a duplicate, by the cosine alone.

    >>> judge(850_000, plausible=False, params=NoveltyParams())
    Judgement(status='held', units=1000000000)
    """
    return judge_value(reward_units(micro, params), plausible, params)


def judge_value(units: int, plausible: bool, params: NoveltyParams) -> Judgement:
    """Judge a contribution of a given value."""
    if not plausible and params.gate == "deny":
        return Judgement("refused", 0)
    return Judgement("held" if not plausible and params.gate == "hold" else "paid", units)


DUPLICATE = Judgement("duplicate", 0)
