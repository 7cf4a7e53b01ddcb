"""Parameters: the table of the specification, the ranges, and a hash that tells settings apart."""

import re

import pytest

from tests_root import ROOT
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanism.params import hash_params, make_params
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams

SPEC = (ROOT / "docs/spec/chunking.md").read_text()
CHUNKING = Chunking()


def spec_defaults() -> dict[str, object]:
    table = SPEC.split("## 2. Constants")[1].split("## 3.")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", table, re.M)
    words = {"null": None, "false": False, "true": True, "2/3": 2 / 3}
    return {
        name: words[text.strip("` ")] if text.strip("` ") in words else _read(text.strip("` ")) for name, text in rows
    }


def _read(text: str) -> object:
    try:
        return float(text)
    except ValueError:
        return text


def test_defaults_are_those_of_the_specification() -> None:
    assert ChunkingParams().model_dump() == spec_defaults()


@pytest.mark.parametrize(
    "overrides",
    [
        {"unknown": 1}, {"base": 0.49}, {"base": 1.01}, {"max_exponent": 1001}, {"max_exponent": -1}, {"alpha": 0},
        {"alpha": 1.5}, {"curve": 0}, {"curve": 1}, {"group_size": 0}, {"group_size": 2.5}, {"num_embeddings": 0},
        {"shape": "round"}, {"strict": 1}, {"alpha": "0.5"}, {"alpha": float("nan")}, {"size_factor": float("inf")},
        {"ties": None}, {"time_soft_max": -1}, {"splitter": "nltk"}, {"alpha": True},
    ],
)  # fmt: skip
def test_unknown_names_and_bad_values_are_refused(overrides: dict[str, object]) -> None:
    with pytest.raises(WeighbeamError, match="bad_params") as caught:
        make_params(CHUNKING, overrides)
    assert next(iter(overrides)) in caught.value.message


def test_equal_settings_hash_alike_and_others_do_not() -> None:
    default = hash_params(CHUNKING, make_params(CHUNKING), {})
    assert hash_params(CHUNKING, make_params(CHUNKING, {"timeout": 20, "qty_factor": 100}), {}) == default
    seen = {default}
    for name, value in {"alpha": 0.2, "strict": True, "num_embeddings": None, "shape": "exp", "curve": 0.6}.items():
        seen.add(hash_params(CHUNKING, make_params(CHUNKING, {name: value}), {}))
    seen.add(hash_params(CHUNKING, make_params(CHUNKING), {"embedder": {"id": "other", "digest": "1"}}))
    assert len(seen) == 7


def test_parameters_cannot_be_changed_once_made() -> None:
    with pytest.raises(ValueError, match="frozen"):
        ChunkingParams().alpha = 0.5
