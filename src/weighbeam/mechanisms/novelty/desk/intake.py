"""Intake: submissions in order, each judged, inserted, paid and receipted in one transaction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Row, insert, select, update

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.quantise import MILLION
from weighbeam.mechanisms.novelty.desk.corpus import Corpus, CorpusLookahead, NearestContribution
from weighbeam.mechanisms.novelty.desk.ledger import LedgerTransaction, PayLimits
from weighbeam.mechanisms.novelty.desk.seals import seal_taken
from weighbeam.mechanisms.novelty.desk.submission import NoveltySubmission
from weighbeam.mechanisms.novelty.measure import MeasuredText
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.reward import DUPLICATE, Judgement, judge
from weighbeam.mechanisms.novelty.tables import contributions, forms
from weighbeam.senses.ports.vectors import dot_exact

Receipt = dict[str, Any]
REFUSALS = frozenset({"key_conflict", "implausible", "budget_spent", "bad_similarity"})
"""What is found before anything is written; whatever else goes wrong ends the whole transaction."""


class RepeatedReceipt(Receipt):
    """A receipt that was given before: nothing was done for it now."""


Sign = Callable[[Mapping[str, Any]], Receipt]


@dataclass(frozen=True, slots=True)
class IntakeRules:
    """What submissions are judged by. `named` is what every receipt says of it."""

    params: NoveltyParams
    limits: PayLimits
    named: Mapping[str, Any]
    sign: Sign


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

    def take_in(
        self, given: Sequence[NoveltySubmission], ahead: CorpusLookahead | None = None
    ) -> list[Receipt | Exception]:
        """One receipt for each, or why it alone is refused; `ahead` is what the corpus said before the lock."""
        measured = [one.measured.vectors for one in given if one.measured is not None]
        near = iter(self._corpus.nearest(self._connection, measured, ahead))
        done: list[Receipt | Exception] = []
        for one in given:
            found = next(near) if one.measured is not None else None
            try:
                done.append(self._take(one, found))
            except WeighbeamError as refusal:
                if refusal.code not in REFUSALS:
                    raise
                done.append(refusal)
        self._book.close()
        return done

    def _take(self, given: NoveltySubmission, near: NearestContribution | None) -> Receipt:
        before = select_by_key(self._connection, given.key)
        if before is not None:
            return repeat(before, given)
        first = select_form(self._connection, given.form)
        if first is not None:
            return self._write(given, DUPLICATE, NearestContribution(first, MILLION * MILLION), None)
        if given.measured is None:
            raise WeighbeamError("store_fault", "a text that was there is gone", "restore a backup")
        near = self._nearer(given.measured, near)
        judged = judge(near.micro if near else 0, not given.measured.doubts, self._rules.params)
        if given.imported:
            judged = Judgement("paid", 0)
        elif judged.status == "refused":
            told = f"it does not read as plausible text: {', '.join(given.measured.doubts)}"
            raise WeighbeamError("implausible", told, "write plain sentences")
        else:
            self._book.check(given.contributor, judged.units, self._rules.limits)
        return self._write(given, judged, near, given.measured)

    def _nearer(self, measured: MeasuredText, near: NearestContribution | None) -> NearestContribution | None:
        """What is nearest, with those taken in this same turn; of equals the oldest."""
        if not self._new:
            return near
        products = dot_exact(measured.vectors, np.concatenate(self._new)).max(axis=0)
        place = int(products.argmax())
        best = NearestContribution(self._owners[place], int(products[place]))
        return best if near is None or best.product > near.product else near

    def _write(
        self,
        given: NoveltySubmission,
        judged: Judgement,
        near: NearestContribution | None,
        measured: MeasuredText | None,
    ) -> Receipt:
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
            self._new.append(measured.vectors)
            self._owners += [id] * len(measured.vectors)
        self._book.spend("hold" if status == "held" else "pay", id, given.contributor, judged.units)
        receipt = self._rules.sign(format_receipt({**row, "id": id}, self._rules.named, self._book.head))
        self._connection.execute(update(contributions).where(contributions.c.id == id).values(receipt=receipt))
        taken = (given.form, measured.vectors) if measured is not None else (None, None)
        seal_taken(self._connection, {**row, "id": id, "receipt": receipt}, *taken)
        return receipt


def format_receipt(row: Mapping[str, Any], named: Mapping[str, Any], head: str) -> dict[str, Any]:
    """What a receipt says: the facts of § 4, and no text."""
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
    """Who said it first."""
    return connection.scalar(select(forms.c.contribution).where(forms.c.digest == form))
