"""Local score and stance of a passage from a language-inference model (spec § 8)."""

from dataclasses import dataclass
from typing import Literal

from weighbeam.core.numbers import is_number

Stance = Literal["supports", "refutes", "neutral"]
CLASSES = ("contradiction", "neutral", "entailment")
SLACK = 0.001 + 1e-9


@dataclass(frozen=True, slots=True)
class NliProbabilities:
    """Three probabilities."""

    contradiction: float
    neutral: float
    entailment: float

    @property
    def local(self) -> float:
        return min(1.0, self.contradiction + self.entailment)

    @property
    def stance(self) -> Stance:
        """The class with the strictly largest probability, else neutral.

        >>> NliProbabilities(0.1, 0.2, 0.7).stance, NliProbabilities(0.5, 0.0, 0.5).stance
        ('supports', 'neutral')
        """
        if self.entailment > max(self.contradiction, self.neutral):
            return "supports"
        return "refutes" if self.contradiction > max(self.entailment, self.neutral) else "neutral"


def parse_inference(given: object) -> NliProbabilities | None:
    """Probabilities in [0, 1] that sum to 1 ± 0.001; None if these are none, which is the validator's fault.

    >>> parse_inference({"contradiction": 0.5, "neutral": 0.5, "entailment": 0.2}) is None
    True
    """
    values = [given.get(name) for name in CLASSES] if isinstance(given, dict) else []
    numbers = [float(value) for value in values if is_number(value) and 0 <= value <= 1]
    if len(numbers) != len(CLASSES) or abs(sum(numbers) - 1) > SLACK:
        return None
    return NliProbabilities(*numbers)


def are_opposite(one: Stance, other: Stance) -> bool:
    return {one, other} == {"supports", "refutes"}
