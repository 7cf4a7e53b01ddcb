"""How far answers say the same, by what they claim (spec § 19): the agreement of each two, in millionths.

A row is an answer, a column the answer it is held against: row i, column j says how far j supports i. What both say
beyond the prompt counts, longer answers gain little by being longer, and where a kind of question has a value to agree
on (a number, a function's results, the words of a short answer) that value decides.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.quantise import MILLION
from weighbeam.mechanisms.inference.text.behaviour import Trials, agree_on_results
from weighbeam.mechanisms.inference.text.kinds import Kind

Matrix = NDArray[np.float64]
RECALL = 3.0
"""β of the F-measures: text of the other that an answer leaves out counts more than text that it adds."""
REMOVED = 0.5
"""How much of the prompt's direction is taken out of vectors before they are compared."""
SHORTER = 0.2
"""Share of its agreement that an answer with nothing new loses; one with as much new as the median loses nothing."""
VALUE = 0.85
RESULTS, EXAMPLES = 0.4, 0.4
UNKNOWN = 0.5
COMMON = 0.5
"""Factor on agreement in a short round without a word that half of the answers share."""
CONTRADICTION = 0.15
DENIED = 1.0
"""Share of its agreement that an answer loses if all others deny all of it, and nothing of the median answer."""
LISTED = 2 / 3
"""A sentence, or an answer, that consists of other answers to this part of its new words lists them."""


@dataclass(frozen=True, slots=True)
class Claims:
    """Inputs of a round's agreement. The answers that are `heard`, which passed the gate, define what is typical of it.
    `support` is the mean best cosine of a row's sentences among a column's. `contradiction` of short answers and
    `denied`, how much more than others an answer of an open round is denied, are None where no sense was asked."""

    kind: Kind
    heard: Sequence[bool]
    fresh: Sequence[frozenset[str]]
    cosines: Matrix
    to_prompt: NDArray[np.float64]
    support: Matrix
    values: Sequence[str | None]
    trials: Trials | None
    results: Sequence[Sequence[str] | None]
    contradiction: Matrix | None
    said: Sequence[Sequence[frozenset[str]]] = ()
    """Of each answer the new stems of its sentences; looked at in short rounds only."""
    denied: NDArray[np.float64] | None = None


def measure_agreement(claims: Claims) -> NDArray[np.int32]:
    """The matrix, with ones on its diagonal."""
    found = _agree_openly(claims)
    if claims.kind == "number":
        same = np.array([[a is not None and a == b for b in claims.values] for a in claims.values], dtype=np.float64)
        found = VALUE * same.reshape(found.shape) + (1 - VALUE) * found
    elif claims.kind == "short":
        found = _agree_briefly(claims)
    elif claims.kind == "code":
        found = _agree_on_code(claims, found)
    else:
        found = found * _rate_length(claims)[:, None]
        if claims.denied is not None:
            found = found * np.maximum(0.0, 1 - DENIED * claims.denied)[:, None]
    np.fill_diagonal(found, 1.0)
    return np.rint(np.clip(found, 0.0, 1.0) * MILLION).astype(np.int32)


def _agree_openly(claims: Claims) -> Matrix:
    """The mean of three: new words, sentences, and vectors without half of the prompt."""
    words = join_recall(_overlap(claims.fresh))
    return (words + join_recall(claims.support) + without_prompt(claims.cosines, claims.to_prompt, REMOVED)) / 3


def _overlap(fresh: Sequence[frozenset[str]]) -> Matrix:
    """The share of a row's stems that a column has too."""
    sizes = np.array([len(one) for one in fresh], dtype=np.float64)
    return _count_shared(fresh) / np.maximum(sizes, 1.0)[:, None]


def _count_shared(fresh: Sequence[frozenset[str]], weight: Mapping[str, int] | None = None) -> Matrix:
    """Stems that each two have in common, or their weight."""
    met = Counter(stem for one in fresh for stem in one)
    places = {stem: place for place, stem in enumerate(stem for stem, times in met.items() if times > 1)}
    has = np.zeros((len(fresh), len(places)))
    for row, one in enumerate(fresh):
        has[row, [places[stem] for stem in one if stem in places]] = 1.0
    scale = np.ones(len(places)) if weight is None else np.array([weight[stem] for stem in places], dtype=np.float64)
    return np.asarray((has * scale) @ has.T)


def join_recall(share: Matrix) -> Matrix:
    """The F-measure of two shares, one seen from the row and one from the column."""
    other = share.T
    beta = RECALL**2
    return np.asarray((1 + beta) * share * other / np.maximum(beta * share + other, 1e-9))


def without_prompt(cosines: Matrix, to_prompt: NDArray[np.float64], removed: float) -> Matrix:
    """Cosines of vectors from which a part of the prompt's direction is taken out.

    >>> without_prompt(np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([0.5, 0.5]), 1.0).round(3).tolist()
    [[1.0, 0.333], [0.333, 1.0]]
    """
    part = 2 * removed - removed**2
    length = np.sqrt(np.maximum(1 - part * to_prompt**2, 1e-9))
    bare = (cosines - part * np.outer(to_prompt, to_prompt)) / np.outer(length, length)
    return np.asarray(np.clip(bare, 0.0, 1.0))


def _rate_length(claims: Claims) -> NDArray[np.float64]:
    sizes = np.array([len(one) for one in claims.fresh], dtype=np.float64)
    heard = sizes[np.array(claims.heard, dtype=bool)]
    typical = max(1.0, float(np.median(heard))) if len(heard) else 1.0
    return np.asarray(1 - SHORTER * (1 - np.minimum(1.0, sizes / typical)))


def _agree_briefly(claims: Claims) -> Matrix:
    """New words in common, those that many say above all; and no contradiction."""
    fresh = claims.fresh
    sizes = np.array([len(one) for one in fresh], dtype=np.float64)
    smaller = np.minimum(sizes[:, None], sizes[None, :])
    shared = _count_shared(fresh) / np.maximum(smaller, 1.0)
    met = Counter(stem for one, heard in zip(fresh, claims.heard, strict=True) if heard for stem in one)
    weight = {stem: max(0, met[stem] - 1) ** 2 for one in fresh for stem in one}
    whole = np.array([sum(weight[stem] for stem in one) for one in fresh], dtype=np.float64)
    common = _count_shared(fresh, weight) / np.maximum(whole, 1.0)[None, :]
    found = 0.5 * shared + 0.5 * common
    if max(met.values(), default=0) < 0.5 * sum(claims.heard):
        found = COMMON * found
    if claims.contradiction is not None:
        found = (1 - CONTRADICTION) * found + CONTRADICTION * (1 - claims.contradiction)
    named = np.array([count_candidates(claims, row) for row in range(len(fresh))], dtype=np.float64)
    return np.asarray(found / np.outer(named, named))


def count_candidates(claims: Claims, row: int) -> int:
    """How many answers of others, with no new word in common, one answer names: it supports each of them, and is
    supported by each, only by a part. Reasons for an answer may name another, so only those count that are most of
    what a sentence or the whole says."""
    if not claims.said:
        return 1
    own = claims.fresh[row]
    others = [one for place, one in enumerate(claims.fresh) if place != row and claims.heard[place] and one < own]
    others.sort(key=lambda one: (len(one), sorted(one)))
    return max(1, *(_count_listed(others, part) for part in (own, *claims.said[row])))


def _count_listed(others: Sequence[frozenset[str]], said: frozenset[str]) -> int:
    """Answers with new words that make up what is said, the first ones first, each with other words."""
    chosen: list[frozenset[str]] = []
    for one in others:
        if one and one <= said and all(one.isdisjoint(other) for other in chosen):
            chosen.append(one)
    return len(chosen) if sum(map(len, chosen)) >= LISTED * len(said) else 0


def _agree_on_code(claims: Claims, openly: Matrix) -> Matrix:
    """Agreement of code: by results of functions, if they can be run; else by wording."""
    bare = without_prompt(claims.cosines, claims.to_prompt, 1.0)
    if claims.trials is None:
        return 0.5 * openly + 0.5 * bare
    pairs = [[agree_on_results(one, other) for other in claims.results] for one in claims.results]
    results = np.array([[UNKNOWN if own is None else own for own in row] for row in pairs]).reshape(bare.shape)
    examples = np.array([_pass_examples(claims.trials, one) for one in claims.results])
    return np.asarray(RESULTS * results + EXAMPLES * examples[:, None] + (1 - RESULTS - EXAMPLES) * bare)


def _pass_examples(trials: Trials, results: Sequence[str] | None) -> float:
    """The share of the prompt's own examples that a function gets right."""
    if results is None or not trials.shown:
        return UNKNOWN
    return sum(results[place] == shown for place, shown in trials.shown.items()) / len(trials.shown)
