"""Parse the JSON input of the pure stages, reporting errors in the order of spec § 16."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_integer, is_number
from weighbeam.mechanism.records import Reply
from weighbeam.mechanisms.inference.agreement.filter import ReceivedAnswers
from weighbeam.mechanisms.inference.judge import RoundInput
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.reference.kinds import parse_reference
from weighbeam.mechanisms.inference.reference.marks import Truth
from weighbeam.mechanisms.inference.reference.read import read_answer
from weighbeam.mechanisms.inference.reference.truth import judge_reading
from weighbeam.mechanisms.inference.text.counts import ParsedText, compare_texts, count_text
from weighbeam.mechanisms.inference.text.kinds import Kind
from weighbeam.mechanisms.inference.text.quality import Cosines, judge_quality
from weighbeam.mechanisms.inference.text.words import Polarity, label_polarity
from weighbeam.mechanisms.inference.tolerance import EQUAL

Input = Mapping[str, Any]
Row = Mapping[str, Any]
STATUSES = get_args(Reply)


def parse_params(given: Input) -> InferenceParams:
    """`unknown_parameter` before `bad_parameter`."""
    overrides = given.get("params") or {}
    require(isinstance(overrides, dict), "bad_parameter")
    require(set(overrides) <= set(InferenceParams.model_fields), "unknown_parameter")
    try:
        return InferenceParams(**overrides)
    except ValidationError:
        raise WeighbeamError("bad_parameter") from None


def parse_rows(given: Input, name: str) -> Sequence[Row]:
    rows = given.get(name)
    require(isinstance(rows, list), "bad_shape")
    assert isinstance(rows, list)
    require(all(isinstance(row, dict) and isinstance(row.get("hotkey"), str) for row in rows), "bad_shape")
    return rows


def parse_matrix(matrix: object, size: int, order: Sequence[int]) -> NDArray[np.float64]:
    """A square matrix of cosines, symmetric, with rows and columns in the order given."""
    require(isinstance(matrix, (list, tuple, np.ndarray)) and len(matrix) == size, "bad_shape")
    assert isinstance(matrix, (list, tuple, np.ndarray))
    require(all(isinstance(row, (list, tuple, np.ndarray)) and len(row) == size for row in matrix), "bad_shape")
    read = np.array(matrix) if size else np.zeros((0, 0))
    require(read.dtype.kind in "fi", "bad_cosine")
    read = read.astype(np.float64, copy=False)
    require(bool((np.abs(read) <= 1 + EQUAL).all()), "bad_cosine")
    require(bool((np.abs(read - read.T) <= EQUAL).all()), "not_symmetric")
    inside: NDArray[np.float64] = np.clip(read[np.ix_(order, order)], -1.0, 1.0)
    return inside


def parse_shares(matrix: object, size: int, order: Sequence[int]) -> NDArray[np.float64]:
    """A square matrix of numbers from 0 to 1, with rows and columns in the order given."""
    require(isinstance(matrix, list) and len(matrix) == size, "bad_shape")
    assert isinstance(matrix, list)
    require(all(isinstance(row, list) and len(row) == size for row in matrix), "bad_shape")
    require(all(is_number(value, 0) and value <= 1 for row in matrix for value in row), "bad_shape")
    read: NDArray[np.float64] = np.array(matrix, dtype=np.float64).reshape(size, size)[np.ix_(order, order)]
    return read


def parse_kind(kind: object) -> Kind:
    known: tuple[Kind, ...] = get_args(Kind)
    for one in known:
        if one == kind:
            return one
    raise WeighbeamError("bad_shape")


def check_unique(rows: Sequence[Row]) -> None:
    require(len({row["hotkey"] for row in rows}) == len(rows), "duplicate_hotkey")


def parse_cosines(row: Row, sentences: int) -> Cosines:
    """The cosines that belong to a text of so many sentences."""
    lists = [row.get("sentence_cosines"), row.get("neighbour_cosines")]
    for values, count in zip(lists, (sentences, max(0, sentences - 1)), strict=True):
        require(isinstance(values, list) and len(values) == count, "bad_shape")
    own, next_ones = (values if isinstance(values, list) else [] for values in lists)
    every = [row.get("prompt_cosine"), *own, *next_ones]
    require(all(is_number(value) and abs(value) <= 1 + EQUAL for value in every), "bad_cosine")
    return Cosines(float(every[0]), own, next_ones)


def parse_polarity(label: object) -> Polarity:
    if label == "yes":
        return "yes"
    return "no" if label == "no" else None


def parse_given(given: Input, params: InferenceParams) -> RoundInput:
    """A round out of the input of `inference.score`."""
    rows = parse_rows(given, "answers")
    arrived = [row for row in rows if row.get("status", "ok") == "ok"]
    order = sorted(range(len(arrived)), key=lambda i: arrived[i]["hotkey"])
    texts = [ParsedText(row["text"]) if isinstance(row.get("text"), str) else None for row in arrived]
    judge = partial(
        _judge_row, ParsedText(str(given.get("prompt") or "")), given.get("prose", True) is not False, params
    )
    judged = [judge(row, text) for row, text in zip(arrived, texts, strict=True)]
    similarity = parse_matrix(given.get("similarity"), len(arrived), order)
    kind = None if given.get("kind") is None else parse_kind(given["kind"])
    overlap = _parse_overlap(given, arrived, texts, order)
    check_unique(rows)
    require(all(row.get("status", "ok") in STATUSES for row in rows), "bad_status")
    received = ReceivedAnswers(
        hotkeys=tuple(arrived[i]["hotkey"] for i in order),
        quality=np.array([judged[i][0] for i in order], dtype=np.float64),
        words=np.array([judged[i][1] for i in order], dtype=np.int64),
        entities=tuple(arrived[i].get("entity") for i in order),
        similarity=similarity,
        overlap=overlap,
        agreement=None if kind is None else parse_shares(given.get("agreement"), len(arrived), order),
        kind=kind,
        exact=params.equal_at_zero and given.get("exact", False) is True,
    )
    return RoundInput(
        received=received,
        seconds=tuple(arrived[i].get("seconds") for i in order),
        confidence=tuple(arrived[i].get("confidence") for i in order),
        polarity=tuple(_label(arrived[i], texts[i]) for i in order),
        missed={row["hotkey"]: row["status"] for row in rows if row.get("status", "ok") != "ok"},
        truth=_parse_truth(given, [arrived[i] for i in order]),
    )


def _parse_truth(given: Input, arrived: Sequence[Row]) -> tuple[Truth, ...] | None:
    """As given for each answer, or from the texts and the reference; a claim needs a sense, and is given."""
    if given.get("reference") is None:
        if all("truth" not in row for row in arrived):
            return None
        found = [row.get("truth") for row in arrived]
        require(all(one is None or (is_number(one, 0) and one <= 1) for one in found), "bad_shape")
        return tuple(found)
    reference = parse_reference(given["reference"])
    require(reference.kind != "text" and all(isinstance(row.get("text"), str) for row in arrived), "bad_shape")
    return tuple(judge_reading(reference, read_answer(reference, row["text"])) for row in arrived)


def _judge_row(
    prompt: ParsedText, prose: bool, params: InferenceParams, row: Row, text: ParsedText | None
) -> tuple[float, int]:
    """Quality and words of an answer, as given or from its text."""
    if "quality" in row:
        require(is_number(row["quality"]) and is_integer(row.get("words"), 0), "bad_shape")
        return float(row["quality"]), row["words"]
    if text is None:
        raise WeighbeamError("bad_shape")
    counts, cosines = count_text(text, prompt), parse_cosines(row, len(text.sentences))
    return judge_quality(counts, cosines, prose, params.quality_threshold).quality, counts.words


def _parse_overlap(
    given: Input, arrived: Sequence[Row], texts: Sequence[ParsedText | None], order: Sequence[int]
) -> NDArray[np.float64] | None:
    """From the texts, unless the quality of an answer is given: then as given too."""
    read = [texts[i] for i in order]
    if all("quality" not in row for row in arrived):
        return compare_texts([text for text in read if text is not None])
    return None if given.get("overlap") is None else parse_matrix(given["overlap"], len(arrived), order)


def _label(row: Row, text: ParsedText | None) -> Polarity:
    if "polarity" in row or text is None:
        return parse_polarity(row.get("polarity"))
    return label_polarity(text.words)
