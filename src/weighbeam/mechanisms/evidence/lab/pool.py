"""Evidence available for a statement: passages of the archive and their value to the mechanism."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weighbeam.mechanisms.evidence.judge.response import score_response
from weighbeam.mechanisms.evidence.lab.saved_web import EDITION
from weighbeam.mechanisms.evidence.miners.passages import QuotablePassage
from weighbeam.mechanisms.evidence.params import EvidenceParams

HALF = 0.5


@dataclass(frozen=True, slots=True)
class EvidenceFind:
    """A passage; `local` is how much it says for or against the statement, `multiplier` what its site counts."""

    passage: QuotablePassage
    local: float
    multiplier: float

    @property
    def worth(self) -> float:
        return self.local * self.multiplier


def format_snippet(passage: QuotablePassage, edition: int | None = None) -> dict[str, Any]:
    return {"url": passage.url + ("" if edition is None else f"{EDITION}{edition}"), "excerpt": passage.text}


def count_value(finds: Sequence[EvidenceFind], seconds: float, params: EvidenceParams) -> float:
    """Value of an answer made of these passages, computed from public rules."""
    rows = [
        {"accepted": True, "local": one.local, "multiplier": one.multiplier, "domain": one.passage.domain}
        for one in finds
        if one.local
    ]
    return float(score_response("ok", seconds, rows, params)["value"]) if rows else 0.0


def choose_best(finds: Sequence[EvidenceFind], worth: Sequence[float], limit: int) -> list[EvidenceFind]:
    """The best so many, by what they are thought to be worth."""
    return [finds[place] for place in rank_best(finds, worth)[:limit]]


def rank_best(finds: Sequence[EvidenceFind], worth: Sequence[float]) -> list[int]:
    """Places, the best first; each further one of a domain counts half of the one before.

    >>> one, two, other = (EvidenceFind(QuotablePassage("", domain, ""), 0, 1) for domain in ("a", "a", "b"))
    >>> rank_best([one, two, other], [0.9, 0.8, 0.5])
    [0, 2, 1]
    """
    left = dict(enumerate(worth))
    used: dict[str, int] = {}
    ranked: list[int] = []
    while left:
        best = max(left, key=lambda place: (left[place] * HALF ** used.get(finds[place].passage.domain, 0), -place))
        used[finds[best].passage.domain] = used.get(finds[best].passage.domain, 0) + 1
        ranked.append(best)
        del left[best]
    return ranked
