"""Ask a language-inference sense for everything, so that one text it chokes on spoils no other."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from weighbeam.core.quantise import MILLION
from weighbeam.mechanisms.evidence.nli import CLASSES
from weighbeam.senses.ports import Entailment

MOST_FAULT = 200
BATCH = 8
Pair = tuple[str, str]


@dataclass(slots=True)
class Inferred:
    """Probabilities by pair. A missing one is our fault and not the text's if the sense is `down`, or if there was no
    time for it."""

    rows: dict[Pair, dict[str, float]] = field(default_factory=dict)
    faults: set[str] = field(default_factory=set)
    down: bool = False
    late: set[Pair] = field(default_factory=set)

    def is_to_blame(self, pairs: Iterable[Pair]) -> bool:
        """Whether we, and not these pairs, are why one of them was not judged."""
        return self.down or not self.late.isdisjoint(pairs)


def infer_in_time(pairs: Iterable[Pair], entailment: Entailment, known: Pair, has_time: Callable[[], bool]) -> Inferred:
    """Each distinct pair once, the shortest first, a few at a time while there is time.

    What fails is tried one by one, `known` first: a pair of our own, new each time. If not even that can be judged, the
    sense is down; else what cannot be has itself to blame (spec § 9).
    """
    inferred = Inferred()
    distinct = sorted(set(pairs), key=lambda pair: (len(pair[0]), pair))
    for first in range(0, len(distinct), BATCH):
        batch = distinct[first : first + BATCH]
        if inferred.down or not has_time():
            inferred.late |= set(batch)
        else:
            _infer_batch(inferred, batch, entailment, (f"{known[0]} {first}", known[1]))
    return inferred


def _infer_batch(inferred: Inferred, pairs: Sequence[Pair], entailment: Entailment, known: Pair) -> None:
    try:
        inferred.rows |= _judge(pairs, entailment)
        return
    except Exception as fault:
        said = _say(fault)
    try:
        _judge([known], entailment)
    except Exception:
        inferred.faults.add(said)
        inferred.down = True
        return
    for pair in pairs:
        try:
            inferred.rows |= _judge([pair], entailment)
        except Exception as fault:
            inferred.faults.add(_say(fault))


def _judge(pairs: Sequence[Pair], entailment: Entailment) -> dict[Pair, dict[str, float]]:
    return {
        pair: {name: int(value) / MILLION for name, value in zip(CLASSES, row, strict=True)}
        for pair, row in zip(pairs, entailment.judge(pairs), strict=True)
    }


def _say(fault: Exception) -> str:
    return f"{type(fault).__name__}: {fault}"[:MOST_FAULT]
