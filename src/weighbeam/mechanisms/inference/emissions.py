"""Emission of an answer: its score, speed, share of a shared text, and consensus (spec § 10)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from weighbeam.core.numbers import is_number, round_significant
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.tolerance import EQUAL

SECONDS_IF_NONE_KNOWN = 1.0


@dataclass(frozen=True, slots=True)
class AnswerPayee:
    """An unflagged answer as its pay is reckoned."""

    hotkey: str
    score: float
    seconds: object
    member: bool
    pay: float
    group: str


@dataclass(frozen=True, slots=True)
class AnswerPay:
    """Emission and speed by hotkey, and who earned the bonus."""

    emissions: dict[str, float]
    speed: dict[str, float]
    bonus: float
    top: tuple[str, ...]
    lead: float


def pay_answers(payees: Sequence[AnswerPayee], pool: float, achieved: bool, params: InferenceParams) -> AnswerPay:
    """The emission of each unflagged answer; all others earn nothing."""
    payees = sorted(payees, key=lambda payee: payee.hotkey)
    speeds = dict(zip([p.hotkey for p in payees], rate_speed([p.seconds for p in payees], params), strict=True))
    top, lead = find_lead(payees)
    bonus = round_significant(1 + params.bonus_max * math.tanh(params.bonus_scale * lead))
    leaders, emissions = set(top), dict[str, float]()
    for payee in payees:
        emission = pool * speeds[payee.hotkey] * payee.score / 100 * payee.pay
        emission *= params.consensus_multiplier if payee.member and achieved else 1.0
        emissions[payee.hotkey] = round(emission * (bonus if payee.hotkey in leaders else 1.0), 12)
    return AnswerPay(emissions, speeds, bonus, top, lead)


def parse_seconds(seconds: object) -> float | None:
    """Seconds as they count: not below 0, None if they are not a number."""
    return max(0.0, float(seconds)) if is_number(seconds) else None


def rate_speed(seconds: Sequence[object], params: InferenceParams) -> list[float]:
    """Each answer's factor; equal times give 1.

    >>> rate_speed([1.0, 2.0, 3.0], InferenceParams()), rate_speed([9.0], InferenceParams())
    ([1.25, 1.0, 0.75], [1.0])
    """
    read = [parse_seconds(value) for value in seconds]
    known = [value for value in read if value is not None]
    middle = median(known) if known else SECONDS_IF_NONE_KNOWN
    floor = max(params.speed_floor_share * middle, params.speed_floor_seconds)
    times = [min(max(middle if t is None else t, floor), params.timeout_seconds) for t in read]
    total, n = math.fsum(times), len(times)
    if n < 2 or total <= 0:
        return [1.0] * n
    rated = ((1 - t / total) * n / (n - 1) for t in times)
    return [min(max(value, params.speed_min), params.speed_max) for value in rated]


def find_lead(payees: Sequence[AnswerPayee]) -> tuple[tuple[str, ...], float]:
    """Everyone with the highest score, and how far it is above the best of any other text."""
    if not payees:
        return (), 0.0
    highest = max(payee.score for payee in payees)
    top = [payee for payee in payees if highest - payee.score <= EQUAL]
    groups = {payee.group for payee in top}
    others = [payee.score for payee in payees if payee.group not in groups]
    lead = highest - max(others) if others and len(groups) == 1 else 0.0
    return tuple(payee.hotkey for payee in top), round(lead, 12)
