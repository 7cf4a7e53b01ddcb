"""Contributions one after the other, from an empty corpus: who came first is paid, who repeats is not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.quantise import MILLION, to_micro
from weighbeam.mechanisms.novelty.facts import NoveltyFacts, Valuation, value_contribution
from weighbeam.mechanisms.novelty.known import gather_facts
from weighbeam.mechanisms.novelty.measure import MeasuredText
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.reward import DUPLICATE, Judgement, judge_value
from weighbeam.senses.ports.protocols import Entailment

HOUR = 3600


@dataclass(frozen=True, slots=True)
class Contribution:
    """A measured text of somebody; `refused` if it cannot be taken at all."""

    id: str
    contributor: str
    measured: MeasuredText
    plausible: bool = True
    refused: bool = False
    at: float | None = None


@dataclass(frozen=True, slots=True)
class NearestPiece:
    """Owner of the nearest piece, and its similarity in millionths."""

    id: str
    micro: int


@dataclass(frozen=True, slots=True)
class OrderedContribution:
    """Result of a contribution in its turn; `neighbour` is None if nothing came before it."""

    id: str
    contributor: str
    judgement: Judgement
    neighbour: NearestPiece | None
    facts: NoveltyFacts | None = None
    similarity: int = MILLION


@dataclass(slots=True)
class TakenContributions:
    """Everything taken so far, as the second look asks for it; `now` is the time of the one that is looked at."""

    params: NoveltyParams
    now: float | None = None
    owners: list[str] = field(default_factory=list)
    rows: list[NDArray[np.int64]] = field(default_factory=list)
    runs: dict[int, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    own: dict[str, list[tuple[str, float | None, int]]] = field(default_factory=dict)

    def count_rows(self) -> int:
        return len(self.rows)

    def find_owners(self, runs: Sequence[int]) -> Mapping[int, str]:
        return {run: self.runs[run] for run in runs if run in self.runs}

    def load_texts(self, ids: Sequence[str]) -> Mapping[str, str]:
        return {id: self.texts[id] for id in ids}

    def measure(self, ids: Sequence[str], rows: NDArray[np.int32]) -> Mapping[str, int]:
        wanted = set(ids)
        chosen = [place for place, owner in enumerate(self.owners) if owner in wanted]
        near: dict[str, int] = {}
        if chosen:
            best = (np.stack([self.rows[place] for place in chosen]) @ rows.astype(np.int64).T).max(axis=1)
            for place, product in zip(chosen, best.tolist(), strict=True):
                near[self.owners[place]] = max(near.get(self.owners[place], -MILLION), to_micro(product))
        return near

    def list_own(self, contributor: str, limit: int) -> Sequence[tuple[str, int]]:
        found = self.own.get(contributor, [])
        return [(id, charged) for id, at, charged in reversed(found) if self._is_recent(at)][:limit]

    def _is_recent(self, at: float | None) -> bool:
        return at is None or self.now is None or at > self.now - self.params.window_hours * HOUR

    def find(self, rows: NDArray[np.int32]) -> NearestPiece | None:
        """The nearest of everything taken; of equals the oldest."""
        if not self.rows:
            return None
        best = (np.stack(self.rows) @ rows.astype(np.int64).T).max(axis=1)
        place = int(best.argmax())
        return NearestPiece(self.owners[place], to_micro(int(best[place])))

    def add(self, given: Contribution, units: int, charged: int) -> None:
        self.owners += [given.id] * len(given.measured.vectors)
        self.rows += list(given.measured.vectors.astype(np.int64))
        self.texts[given.id] = given.measured.text
        if units:
            self.own.setdefault(given.contributor, []).append((given.id, given.at, charged))
        if given.measured.read is not None:
            for run in given.measured.read.list_kept():
                self.runs.setdefault(run, given.id)


class ContributionOrder:
    """Everything taken so far, in order; without an `entailment` sense nobody is asked what follows from what."""

    def __init__(self, params: NoveltyParams, entailment: Entailment | None = None) -> None:
        self._params = params
        self._entailment = entailment
        self._forms: dict[str, str] = {}
        self._taken = TakenContributions(params)

    def take(self, given: Contribution) -> OrderedContribution:
        """Judge the next contribution, and keep it unless it is refused or a duplicate."""
        judged, charged = self._judge(given)
        if judged.judgement.status not in ("refused", "duplicate"):
            self._forms[given.measured.form] = given.id
            self._taken.add(given, judged.judgement.units, charged)
        return judged

    def quote(self, given: Contribution) -> OrderedContribution:
        """Pay of a contribution if it came next; nothing is stored."""
        return self._judge(given)[0]

    def _judge(self, given: Contribution) -> tuple[OrderedContribution, int]:
        """Judge a contribution: its pay, and its charge against later similar ones of its contributor."""
        if given.refused:
            return OrderedContribution(given.id, given.contributor, Judgement("refused", 0), None), 0
        form = given.measured.form
        if form in self._forms:
            known = NearestPiece(self._forms[form], MILLION)
            return OrderedContribution(given.id, given.contributor, DUPLICATE, known), 0
        found, facts, value = self._value(given)
        judgement = judge_value(value.units, given.plausible, self._params)
        made = OrderedContribution(given.id, given.contributor, judgement, found, facts, value.similarity)
        return made, value.charged

    def _value(self, given: Contribution) -> tuple[NearestPiece | None, NoveltyFacts | None, Valuation]:
        measured, taken = given.measured, self._taken
        taken.now = given.at
        found = taken.find(measured.windows)
        sentences = [near.micro if (near := taken.find(row)) else 0 for row in measured.sentence_rows]
        nearest = (found.id, found.micro) if found else None
        facts = gather_facts(measured, given.contributor, nearest, sentences, taken, self._params, self._entailment)
        return found, facts, value_contribution(found.micro if found else 0, facts, self._params)


def order_contributions(given: Sequence[Contribution], params: NoveltyParams) -> list[OrderedContribution]:
    line = ContributionOrder(params)
    return [line.take(one) for one in given]
