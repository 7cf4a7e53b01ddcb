"""Ask a language-inference sense for everything at once, so that one text it chokes on spoils no other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weighbeam.core.quantise import MILLION
from weighbeam.mechanisms.evidence.nli import CLASSES
from weighbeam.senses.ports import Entailment

MOST_FAULT = 200
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Inferred:
    """Probabilities by pair. `down` says that a missing one is the sense's fault, not the text's."""

    rows: dict[Pair, dict[str, float]]
    faults: tuple[str, ...] = ()
    down: bool = False


def infer_all(pairs: Iterable[Pair], entailment: Entailment, known: Pair) -> Inferred:
    """Each distinct pair once. What fails is tried one by one, `known` first: a pair of our own, new each time. If not
    even that can be judged, the sense is down; else what cannot be has itself to blame (spec § 9).
    """
    distinct = list(dict.fromkeys(pairs))
    if not distinct:
        return Inferred({})
    try:
        return Inferred(_judge(distinct, entailment))
    except Exception as fault:
        said = _say(fault)
    try:
        _judge([known], entailment)
    except Exception:
        return Inferred({}, (said,), True)
    return _infer_one_by_one(distinct, entailment)


def _infer_one_by_one(pairs: Sequence[Pair], entailment: Entailment) -> Inferred:
    rows: dict[Pair, dict[str, float]] = {}
    faults: set[str] = set()
    for pair in pairs:
        try:
            rows |= _judge([pair], entailment)
        except Exception as fault:
            faults.add(_say(fault))
    return Inferred(rows, tuple(sorted(faults)))


def _judge(pairs: Sequence[Pair], entailment: Entailment) -> dict[Pair, dict[str, float]]:
    return {
        pair: {name: int(value) / MILLION for name, value in zip(CLASSES, row, strict=True)}
        for pair, row in zip(pairs, entailment.judge(pairs), strict=True)
    }


def _say(fault: Exception) -> str:
    return f"{type(fault).__name__}: {fault}"[:MOST_FAULT]
