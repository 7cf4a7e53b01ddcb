"""Whether what an answer says is right, from 0 to 1; None if that cannot be said. Pure."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from weighbeam.core.quantise import MILLION
from weighbeam.mechanisms.inference.reference.kinds import LETTERS, Reference
from weighbeam.mechanisms.inference.reference.numerals import format_number

RIGHT = 0.75
"""From here on an answer counts as right where there is only right and wrong: in the consensus."""
SLACK = Fraction(1, 10**9)
ENTAILED, DENIED = 0.5, 0.8
"""Probabilities from which a claim is taken as said, or as denied."""


def judge_reading(reference: Reference, reading: Mapping[str, Any]) -> float | None:
    """How right it is."""
    if reference.kind == "value":
        return float(_is_value(reference, reading))
    if reference.kind == "function":
        return _judge_results(reference, reading)
    if reference.kind == "text":
        return _judge_claims(reading["claims"])
    named = set(reading["named"])
    hits, false = len(named & reference.right), len(named - reference.right)
    return round(max(0.0, (hits - false) / len(reference.right)), 12)


def _is_value(reference: Reference, reading: Mapping[str, Any]) -> bool:
    """Within the tolerance; a number with a sign for per cent may also be meant as its hundredth."""
    if reading["value"] is None:
        return False
    read = Fraction(reading["value"])
    meant = (read, read / 100) if reading.get("percent") else (read,)
    room = reference.tolerance + SLACK * max(Fraction(1), abs(reference.value))
    return any(abs(one - reference.value) <= room for one in meant)


def _judge_results(reference: Reference, reading: Mapping[str, Any]) -> float | None:
    if reading["results"] is None:
        return None if reading["why"] == "unsupported" else 0.0
    expected = [case[1] for case in reference.cases]
    results = reading["results"]
    return float(all("is" in got and _equals(got["is"], want) for got, want in zip(results, expected, strict=True)))


def _equals(got: Any, want: Any) -> bool:
    """Equal, with True and 1 apart and floats within a billionth."""
    if isinstance(got, bool) or isinstance(want, bool):
        return got is want
    if isinstance(got, int | float) and isinstance(want, int | float):
        return abs(got - want) <= SLACK * max(1, abs(want))
    if isinstance(got, list) and isinstance(want, list):
        return len(got) == len(want) and all(map(_equals, got, want))
    if isinstance(got, dict) and isinstance(want, dict):
        return got.keys() == want.keys() and all(_equals(got[key], want[key]) for key in got)
    return bool(got == want)


def _judge_claims(claims: list[list[int]]) -> float | None:
    """Each claim comes as (contradiction, entailment) in millionths; what an answer leaves open counts nothing."""
    said = sum(entails >= ENTAILED * MILLION for _, entails in claims)
    denied = sum(contradicts >= DENIED * MILLION and entails < ENTAILED * MILLION for contradicts, entails in claims)
    return None if said + denied == 0 else said / (said + denied)


def describe_reading(reference: Reference, reading: Mapping[str, Any]) -> str:
    """Describe a reading for people."""
    if reference.kind == "value":
        if reading["value"] is None:
            return f"nothing ({reading['why']})"
        return format_number(Fraction(reading["value"])) + (" %" if reading.get("percent") else "")
    if reference.kind == "function":
        if reading["results"] is None:
            return f"nothing ({reading['why']}{': ' + reading['what'] if 'what' in reading else ''})"
        pairs = zip(reading["results"], reference.cases, strict=True)
        good = sum("is" in got and _equals(got["is"], case[1]) for got, case in pairs)
        return f"right in {good} of {len(reference.cases)} cases"
    if reference.kind == "text":
        rows = (
            f"entailment {entails / MILLION:.2f}, contradiction {denies / MILLION:.2f}"
            for denies, entails in reading["claims"]
        )
        return "; ".join(rows)
    if not reading["named"]:
        return f"nothing ({reading.get('why', 'nothing named')})"
    letters = [f"{LETTERS[place]}) " if reference.kind == "choice" else "" for place in range(len(reference.things))]
    return ", ".join(f"{letters[place]}{reference.things[place][0]}" for place in reading["named"])
