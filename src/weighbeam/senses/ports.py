"""What a mechanism may ask of the world while it observes. Implementations live beside this file."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Sense(Protocol):
    """Anything that observes: named and versioned, so that every observation says by what it was made."""

    @property
    def id(self) -> str:
        """The name a user configures it by."""
        ...

    @property
    def digest(self) -> str:
        """Changes whenever the same input may give another output."""
        ...


class Embedder(Sense, Protocol):
    """Texts to unit vectors."""

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.int32]:
        """(n, dimensions) integers in millionths; a text's row does not depend on the other texts."""
        ...


class Entailment(Sense, Protocol):
    """Whether a premise contradicts a hypothesis, leaves it open, or entails it."""

    def judge(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.int32]:
        """(n, 3) millionths for pairs of (premise, hypothesis): contradiction, neutral, entailment.

        Each row adds up to exactly 1,000,000 and does not depend on the other pairs.
        """
        ...


class Sentences(Sense, Protocol):
    """A text to its sentences."""

    def split(self, text: str) -> list[str]: ...


class Senses(Protocol):
    """The senses of one validator, by what they do."""

    @property
    def embedder(self) -> Embedder: ...

    @property
    def entailment(self) -> Entailment: ...

    def sentences(self, name: str) -> Sentences:
        """The splitter called `name`; an unknown one is `unknown_splitter`."""
        ...
