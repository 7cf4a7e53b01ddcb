"""The parameters of evidence: the tables of the specification, and what is refused."""

import re
from typing import Any

import pytest

from tests_root import ROOT
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.parse import parse_params

SPEC = (ROOT / "docs/spec/evidence.md").read_text()
WORDS = {"none": None, "true": True, "false": False}
ASKING = {"timeout_seconds": 120.0}
UNPRICED = {"duplicate_statements", "validator_fault"}


def read_value(text: str) -> object:
    plain = text.strip("` ").replace("−", "-")
    if plain in WORDS:
        return WORDS[plain]
    try:
        return float(plain)
    except ValueError:
        return plain


def table(title: str, following: str) -> list[list[str]]:
    text = SPEC.split(title)[1].split(following)[0]
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def spec_constants() -> dict[str, object]:
    found: dict[str, object] = {}
    for row in table("## 2. Constants", "## 3."):
        names, values = re.findall(r"`(\w+)`", row[0]), row[1].split(", ")
        assert len(names) == len(values)
        found |= {name: read_value(value) for name, value in zip(names, values, strict=True)}
    return found


def spec_penalties() -> dict[str, object]:
    found: dict[str, object] = {}
    for row in table("## 3. The check order", "## 4."):
        codes, values = re.findall(r"`(\w+)`", row[2]), row[3].split(", ")
        if not UNPRICED & set(codes):
            priced = zip(codes, values, strict=True)
            assert all(
                found.setdefault(f"penalty_{code}", read_value(text)) == read_value(text) for code, text in priced
            )
    return found


def test_defaults_are_those_of_the_specification() -> None:
    assert EvidenceParams().model_dump() == spec_constants() | spec_penalties() | ASKING
    assert len(spec_penalties()) == 17


@pytest.mark.parametrize(
    "overrides",
    [
        {"penalty_too_similar": 0.1}, {"burn_share": 1.01}, {"base_share": -0.1}, {"copy_share": 2}, {"history": 1.5},
        {"burn_share": 0.6, "base_share": 0.5}, {"burn_share": 1, "base_share": 1e-17}, {"residual": "bottom"},
        {"speed_on_negative": "never"}, {"context_rule": "max"}, {"assessor_rejects": 1}, {"max_snippets": 0},
        {"max_snippets": 2.5}, {"speed_seconds": 0}, {"burn_share": "0.5"}, {"burn_share": None},
        {"min_score": "low"}, {"burn_share": True}, {"burn_share": 10**400}, {"min_score": float("nan")}, "x", 1,
    ],
)  # fmt: skip
def test_bad_values_are_refused(overrides: Any) -> None:
    with pytest.raises(WeighbeamError) as caught:
        parse_params({"params": overrides})
    assert caught.value.code == "bad_parameter"


def test_unknown_names_are_refused_first() -> None:
    with pytest.raises(WeighbeamError) as caught:
        parse_params({"params": {"burn_share": 7, "burn": 0.5}})
    assert caught.value.code == "unknown_parameter"


@pytest.mark.parametrize("given", [{}, {"params": None}, {"params": {}}])
def test_without_overrides_the_defaults_hold(given: dict[str, Any]) -> None:
    assert parse_params(given) == EvidenceParams()


def test_shares_that_make_up_everything_are_allowed() -> None:
    for burn in range(101):
        parse_params({"params": {"burn_share": burn / 100, "base_share": (100 - burn) / 100}})
