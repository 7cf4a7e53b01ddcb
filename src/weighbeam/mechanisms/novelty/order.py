"""Contributions one after the other, from an empty corpus: who came first is paid, who repeats is not."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.quantise import MILLION, to_micro
from weighbeam.mechanisms.novelty.identity import digest_form
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.reward import DUPLICATE, Judgement, judge


@dataclass(frozen=True, slots=True)
class Contribution:
    """A text with its pieces as rows in millionths; `refused` if it cannot be taken at all."""

    id: str
    contributor: str
    text: str
    vectors: NDArray[np.int32]
    plausible: bool = True
    refused: bool = False


@dataclass(frozen=True, slots=True)
class NearestPiece:
    """Whose piece is nearest, and how near in millionths."""

    id: str
    micro: int


@dataclass(frozen=True, slots=True)
class OrderedContribution:
    """What a contribution got in its turn; `neighbour` None when there was nothing before it."""

    id: str
    contributor: str
    judgement: Judgement
    neighbour: NearestPiece | None


class ContributionOrder:
    """Everything taken so far, in order."""

    def __init__(self, params: NoveltyParams) -> None:
        self._params = params
        self._forms: dict[str, str] = {}
        self._owners: list[str] = []
        self._rows: list[NDArray[np.int64]] = []

    def take(self, given: Contribution) -> OrderedContribution:
        """Judge the next contribution, and keep it unless it is refused or a duplicate."""
        if given.refused:
            return OrderedContribution(given.id, given.contributor, Judgement("refused", 0), None)
        form = digest_form(given.text)
        if form in self._forms:
            return OrderedContribution(given.id, given.contributor, DUPLICATE, NearestPiece(self._forms[form], MILLION))
        found = self.find(given.vectors)
        judgement = judge(found.micro if found else 0, given.plausible, self._params)
        if judgement.status != "refused":
            self._forms[form] = given.id
            self._owners += [given.id] * len(given.vectors)
            self._rows += list(given.vectors.astype(np.int64))
        return OrderedContribution(given.id, given.contributor, judgement, found)

    def find(self, vectors: NDArray[np.int32]) -> NearestPiece | None:
        """The nearest of everything taken; of equals the oldest."""
        if not self._rows:
            return None
        products = np.stack(self._rows) @ vectors.astype(np.int64).T
        best = products.max(axis=1)
        place = int(best.argmax())
        return NearestPiece(self._owners[place], to_micro(int(best[place])))


def order_contributions(given: Sequence[Contribution], params: NoveltyParams) -> list[OrderedContribution]:
    line = ContributionOrder(params)
    return [line.take(one) for one in given]
