"""Measures of labels that several mechanisms share: classes, verdicts, repetitions against new work.

Each `meanings` has a sentence for every figure; a kind of rows shows those of the functions that it uses.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from weighbeam.lab.validity.measures import (
    SURE,
    Findings,
    Floats,
    Measured,
    auc_of,
    calibrate,
    calibration_error_of,
    count_confusion,
    macro_f1_of,
    mean_of,
)

CLASS_MEANINGS = {
    "accuracy": "the most probable class is the labelled one, among the classes that the set has",
    "majority": "accuracy of always naming the commonest label",
    "macro_f1": "F1, the harmonic mean of precision and recall, averaged over the labels",
    "calibration_error": "how far confidence is from accuracy, over ten bins by their size",
    "sure": "cases judged with a confidence of at least 90 %",
    "accuracy_if_sure": "accuracy at that confidence",
}
CALL_MEANINGS = {
    "accuracy": "the verdict is the labelled one",
    "majority": "accuracy of always naming the commonest label",
    "decided": "cases with a verdict for one side",
    "accuracy_if_decided": "of those, the labelled side",
    "reversed": "cases of one side that are given to the other: the worst error",
}
REPEAT_MEANINGS = {
    "auc": "something new is paid more than a repetition; ½ for equals, and 50 % is a coin",
    "repeats_paid": "repetitions paid at least a tenth of the greatest pay",
    "new_unpaid": "new work paid less than that",
    "new_refused": "new work refused or held",
    "repeat_pay": "mean pay of a repetition, as a share of the greatest",
    "new_pay": "mean pay of new work, as a share of the greatest",
}
PAID = 0.1
"""Less than this share of the greatest pay is next to nothing."""


def measure_classes(found: Findings, labels: Sequence[str], probabilities: Floats, classes: Sequence[str]) -> Measured:
    """Probabilities, (cases, classes), against labels; classes without a case in the set are not a choice.

    Other figures may be added to `found` before or after.
    """
    there = [number for number, name in enumerate(classes) if name in set(labels)]
    chosen = probabilities[:, there]
    sums = chosen.sum(axis=1, keepdims=True)
    shares = np.divide(chosen, sums, out=np.full(chosen.shape, 1 / len(there)), where=sums > 0)
    called = [classes[there[place]] for place in shares.argmax(axis=1)]
    confidence = shares.max(axis=1)
    right = [one == label for one, label in zip(called, labels, strict=True)]
    found.share("accuracy", right)
    _add_majority(found, labels)
    found.draw("macro_f1", macro_f1_of(labels, called), len(labels))
    found.draw("calibration_error", calibration_error_of(confidence, right), len(labels))
    found.share("sure", confidence >= SURE)
    found.share("accuracy_if_sure", (hit for hit, sure in zip(right, confidence >= SURE, strict=True) if sure))
    return Measured(found.found, count_confusion(labels, called, classes), calibrate(confidence, right))


def measure_calls(
    found: Findings, labels: Sequence[str], called: Sequence[str], names: Sequence[str], sides: tuple[str, str]
) -> Measured:
    """Verdicts against labels; `sides` are the two that oppose each other, the others leave it open."""
    both = list(zip(labels, called, strict=True))
    found.share("accuracy", (label == one for label, one in both))
    _add_majority(found, labels)
    found.share("decided", (one in sides for _, one in both))
    found.share("accuracy_if_decided", (label == one for label, one in both if one in sides))
    found.share("reversed", (one in sides and one != label for label, one in both if label in sides))
    return Measured(found.found, count_confusion(labels, called, names))


def measure_repeats(
    found: Findings, is_repeat: Sequence[bool], pay: Sequence[float], refused: Sequence[bool]
) -> Measured:
    """Pay from 0 to 1, the greatest there is, against whether a case repeats what was there."""
    is_new = [not one for one in is_repeat]
    found.draw("auc", auc_of(pay, is_new), len(pay))
    found.share("repeats_paid", (got >= PAID for got, new in zip(pay, is_new, strict=True) if not new))
    found.share("new_unpaid", (got < PAID for got, new in zip(pay, is_new, strict=True) if new))
    found.share("new_refused", (bad for bad, new in zip(refused, is_new, strict=True) if new))
    for name, marks in (("repeat_pay", is_repeat), ("new_pay", is_new)):
        some = [got for got, marked in zip(pay, marks, strict=True) if marked]
        found.draw(name, mean_of(some), len(some))
    return Measured(found.found)


def _add_majority(found: Findings, labels: Sequence[str]) -> None:
    commonest = Counter(labels).most_common(1)[0][0]
    found.share("majority", (label == commonest for label in labels))
