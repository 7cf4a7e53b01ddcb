"""Intake: submissions in order, each judged, inserted, paid and receipted in one transaction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, insert, select, update

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.quantise import MILLION
from weighbeam.mechanisms.novelty.desk.corpus import Corpus, CorpusLookahead, NearestContribution
from weighbeam.mechanisms.novelty.desk.known import StoreKnowledge, insert_facts, insert_runs
from weighbeam.mechanisms.novelty.desk.ledger import LedgerTransaction, PayLimits
from weighbeam.mechanisms.novelty.desk.seals import seal_taken
from weighbeam.mechanisms.novelty.desk.submission import NoveltySubmission
from weighbeam.mechanisms.novelty.facts import NoveltyFacts, Valuation, value_contribution
from weighbeam.mechanisms.novelty.known import gather_facts, read_known
from weighbeam.mechanisms.novelty.measure import MeasuredText
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.reward import DUPLICATE, Judgement, judge_value
from weighbeam.mechanisms.novelty.tables import contributions, forms
from weighbeam.senses.ports.protocols import Entailment
from weighbeam.senses.ports.vectors import dot_exact

Receipt = dict[str, Any]
REFUSALS = frozenset({"key_conflict", "implausible", "budget_spent", "bad_similarity"})
"""Errors found before anything is written; any other error ends the whole transaction."""


class RepeatedReceipt(Receipt):
    """A receipt that was given before: nothing was done for it now."""


Sign = Callable[[Mapping[str, Any]], Receipt]


@dataclass(frozen=True, slots=True)
class IntakeRules:
    """Rules by which submissions are judged. `named` is their description in every receipt."""

    params: NoveltyParams
    limits: PayLimits
    named: Mapping[str, Any]
    sign: Sign
    entailment: Entailment | None = None


@dataclass(frozen=True, slots=True)
class _TakenIn:
    """Findings about a submission, before it is written."""

    judged: Judgement
    near: NearestContribution | None
    measured: MeasuredText | None = None
    facts: NoveltyFacts | None = None
    value: Valuation | None = None

    def say(self) -> dict[str, Any]:
        """The second look in a receipt: the similarity that is paid for, and the hash of the facts."""
        if self.facts is None or self.value is None:
            return {}
        return {"similarity": self.value.similarity, "new": self.value.new, "facts": self.facts.digest}


def list_queries(measured: MeasuredText) -> list[NDArray[np.int32]]:
    """The rows whose nearest is found: those of the text together, and those of each sentence."""
    return [measured.windows, *measured.sentence_rows]


class IntakeTransaction:
    """Submissions that commit together; the later ones see the earlier."""

    def __init__(self, connection: Connection, corpus: Corpus, rules: IntakeRules, at: float) -> None:
        self._connection = connection
        self._corpus = corpus
        self._rules = rules
        self._at = float(at)
        self._book = LedgerTransaction(connection, at)
        self._new: list[NDArray[np.int32]] = []
        self._owners: list[int] = []
        self._rows = 0
        self._known: StoreKnowledge | None = None

    def take_in(
        self, given: Sequence[NoveltySubmission], ahead: CorpusLookahead | None = None
    ) -> list[Receipt | Exception]:
        """One receipt for each, or why it alone is refused; `ahead` is what the corpus said before the lock."""
        asked = [rows for one in given if one.measured is not None for rows in list_queries(one.measured)]
        near = iter(self._corpus.nearest(self._connection, asked, ahead))
        self._rows = self._corpus.size(self._connection) if asked else 0
        done: list[Receipt | Exception] = []
        for one in given:
            found = [next(near) for _ in list_queries(one.measured)] if one.measured is not None else []
            try:
                done.append(self._take(one, found))
            except WeighbeamError as refusal:
                if refusal.code not in REFUSALS:
                    raise
                done.append(refusal)
        self._book.close()
        return done

    def _take(self, given: NoveltySubmission, found: Sequence[NearestContribution | None]) -> Receipt:
        before = select_by_key(self._connection, given.key)
        if before is not None:
            return repeat(before, given)
        first = select_form(self._connection, given.form)
        if first is not None:
            return self._write(given, _TakenIn(DUPLICATE, NearestContribution(first, MILLION * MILLION)))
        if given.measured is None:
            raise WeighbeamError("store_fault", "a known text is missing", "restore a backup")
        near, facts = self._observe(given, given.measured, found)
        value = value_contribution(near.micro if near else 0, facts, self._rules.params)
        judged = judge_value(value.units, not given.measured.doubts, self._rules.params)
        if given.imported:
            judged, value = Judgement("paid", 0), replace(value, units=0, charged=0)
        elif judged.status == "refused":
            told = f"it does not read as plausible text: {', '.join(given.measured.doubts)}"
            raise WeighbeamError("implausible", told, "write plain sentences")
        else:
            self._book.check(given.contributor, judged.units, self._rules.limits)
        return self._write(given, _TakenIn(judged, near, given.measured, facts, value))

    def _observe(
        self, given: NoveltySubmission, measured: MeasuredText, found: Sequence[NearestContribution | None]
    ) -> tuple[NearestContribution | None, NoveltyFacts | None]:
        """The nearest, and the facts of the second look; of a text that nobody is paid for only its sentences."""
        self._known = None
        near, *rest = (self._nearer(rows, one) for rows, one in zip(list_queries(measured), found, strict=True))
        rows, sentences = self._rows + len(self._owners), [one.micro if one else 0 for one in rest]
        if measured.read is None:
            return near, None
        if given.imported:
            return near, NoveltyFacts(rows, sentences=tuple(zip(measured.sentences, sentences, strict=True)))
        known = StoreKnowledge(self._connection, measured.vectors.shape[1], rows, self._rules.params, self._at)
        self._known = known
        nearest = (str(near.contribution), near.micro) if near else None
        params, judge = self._rules.params, self._rules.entailment
        return near, gather_facts(measured, given.contributor, nearest, sentences, known, params, judge)

    def _nearer(self, rows: NDArray[np.int32], near: NearestContribution | None) -> NearestContribution | None:
        """Nearest contribution, including those of the same turn; of equals the oldest."""
        if not self._new:
            return near
        products = dot_exact(rows, np.concatenate(self._new)).max(axis=0)
        place = int(products.argmax())
        best = NearestContribution(self._owners[place], int(products[place]))
        return best if near is None or best.product > near.product else near

    def _write(self, given: NoveltySubmission, taken: "_TakenIn") -> Receipt:
        judged, near, measured = taken.judged, taken.near, taken.measured
        status = "imported" if given.imported and measured is not None else judged.status
        row = {
            "key": given.key,
            "contributor": given.contributor,
            "at": self._at,
            "status": status,
            "text_sha256": given.text_sha256,
            "text": measured.text if measured else None,
            "withdrawn": False,
            "pieces": len(measured.vectors) if measured else 0,
            "nearest": near.contribution if near else None,
            "micro": near.micro if near else None,
            "units": judged.units,
            "look": measured.look.as_json() if measured else None,
        }
        made = self._connection.execute(insert(contributions).values(**row)).inserted_primary_key
        assert made is not None
        id = int(made[0])
        if measured is not None:
            self._connection.execute(insert(forms).values(digest=given.form, contribution=id))
            self._corpus.add(self._connection, id, measured.vectors)
            insert_runs(self._connection, id, measured.read or read_known(measured.text), self._known)
            if taken.facts is not None and taken.value is not None:
                insert_facts(self._connection, id, taken.facts, taken.value.charged)
            self._new.append(measured.vectors)
            self._owners += [id] * len(measured.vectors)
        self._book.spend("hold" if status == "held" else "pay", id, given.contributor, judged.units)
        receipt = self._rules.sign(
            format_receipt({**row, "id": id}, {**taken.say(), **self._rules.named}, self._book.head)
        )
        self._connection.execute(update(contributions).where(contributions.c.id == id).values(receipt=receipt))
        kept = (given.form, measured.vectors) if measured is not None else (None, None)
        seal_taken(self._connection, {**row, "id": id, "receipt": receipt}, *kept)
        return receipt


def format_receipt(row: Mapping[str, Any], named: Mapping[str, Any], head: str) -> dict[str, Any]:
    """Format a receipt: the facts of § 4, without the text."""
    said = ("id", "contributor", "at", "status", "text_sha256", "nearest", "micro", "units")
    return {"kind": "contribution", **{name: row[name] for name in said}, **named, "ledger": head}


def repeat(before: Row[Any], given: NoveltySubmission) -> Receipt:
    """The same key with the same text gets the first result; with another it is refused."""
    if (before.contributor, before.text_sha256) != (given.contributor, given.text_sha256):
        told = "this key was used for another text or contributor"
        raise WeighbeamError("key_conflict", told, "give each submission a key of its own")
    return RepeatedReceipt(before.receipt)


def select_by_key(connection: Connection, key: str) -> Row[Any] | None:
    return connection.execute(select(contributions).where(contributions.c.key == key)).first()


def select_form(connection: Connection, form: str) -> int | None:
    """Select the contribution with the same form."""
    return connection.scalar(select(forms.c.contribution).where(forms.c.digest == form))
