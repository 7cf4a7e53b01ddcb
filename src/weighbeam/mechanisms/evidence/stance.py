"""What a language-inference model says of a passage and a statement: three probabilities, and the side they take."""

from dataclasses import dataclass
from typing import Literal

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.numbers import is_number

CLASSES = ("contradiction", "neutral", "entailment")
SLACK = 0.001
DECIMALS = 9

Stance = Literal["contradiction", "neutral", "entailment"]


@dataclass(frozen=True, slots=True)
class Probabilities:
    """Probabilities of the three classes."""

    contradiction: float
    neutral: float
    entailment: float

    @property
    def local(self) -> float:
        """How much the passage says about the statement, for or against; at most 1.

        >>> Probabilities(0.3, 0.1, 0.6).local
        0.9
        """
        return min(1.0, round(self.contradiction + self.entailment, DECIMALS))

    @property
    def stance(self) -> Stance:
        """The class with the strictly largest probability, else neutral.

        >>> Probabilities(0.5, 0.0, 0.5).stance, Probabilities(0.2, 0.2, 0.6).stance
        ('neutral', 'entailment')
        """
        if self.contradiction > max(self.neutral, self.entailment):
            return "contradiction"
        return "entailment" if self.entailment > max(self.neutral, self.contradiction) else "neutral"


def read_probabilities(value: object) -> Probabilities:
    """Three probabilities that sum to 1 ± 0.001; else `bad_nli`."""
    if not isinstance(value, dict):
        raise WeighbeamError("bad_nli", "the probabilities are no object")
    numbers = [_read_probability(value.get(name)) for name in CLASSES]
    if round(abs(sum(numbers) - 1), DECIMALS) > SLACK:
        raise WeighbeamError("bad_nli", "the probabilities do not add up to 1")
    return Probabilities(*numbers)


def _read_probability(number: object) -> float:
    if not is_number(number, 0) or number > 1:
        raise WeighbeamError("bad_nli", "a probability is missing or not from 0 to 1")
    return float(number)
