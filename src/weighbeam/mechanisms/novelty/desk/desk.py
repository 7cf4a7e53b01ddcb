"""The novelty desk: submit a contribution, get paid for its distance from everything before, and receive a signed
receipt.

A commit waits for the disk; sixteen callers that commit together wait once.

    desk = open_desk(Store("sqlite:///novelty.db"), LocalSenses(), key)
    receipt = desk.submit("ada", "Sea otters hold hands while they sleep.")

Any number of threads and processes may use one store. What a desk answered is on disk; what it did not answer is
either whole on disk or not there at all.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from weighbeam.core.canonical import digest_json, digest_text
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.quantise import MILLION
from weighbeam.mechanism.params import hash_params
from weighbeam.mechanisms.novelty.desk.corpus import Corpus
from weighbeam.mechanisms.novelty.desk.intake import (
    IntakeRules,
    IntakeTransaction,
    Receipt,
    list_queries,
    repeat,
    select_by_key,
    select_form,
)
from weighbeam.mechanisms.novelty.desk.known import StoreKnowledge, index_older
from weighbeam.mechanisms.novelty.desk.ledger import PayLimits
from weighbeam.mechanisms.novelty.desk.seals import sign_desk
from weighbeam.mechanisms.novelty.desk.submission import NoveltyQuote, NoveltySubmission, check_contributor, check_key
from weighbeam.mechanisms.novelty.desk.vector_corpus import CorpusScan, open_corpus
from weighbeam.mechanisms.novelty.explain import format_tokens
from weighbeam.mechanisms.novelty.facts import value_contribution
from weighbeam.mechanisms.novelty.identity import digest_form
from weighbeam.mechanisms.novelty.known import gather_facts
from weighbeam.mechanisms.novelty.measure import MeasuredText, measure_text, measure_texts, parse_text, prepare_text
from weighbeam.mechanisms.novelty.mechanism import Novelty
from weighbeam.mechanisms.novelty.observe import name_senses
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.plausibility import find_doubts
from weighbeam.mechanisms.novelty.reward import judge_value
from weighbeam.network.keys import Hotkey
from weighbeam.network.receipts import check_receipt, sign_receipt
from weighbeam.senses.ports.protocols import Embedder, Senses
from weighbeam.store.database import Store
from weighbeam.store.memory import look_up, note, recall, remember

Given = TypeVar("Given")
Result = TypeVar("Result")
MAX_TOGETHER = 64


@dataclass(slots=True)
class _Ticket(Generic[Given, Result]):
    given: Given
    results: list[Result | Exception] = field(default_factory=list)


class SharedTurns(Generic[Given, Result]):
    """`work` gets what waits and gives one result for each, an exception for one that alone is refused."""

    def __init__(self, work: Callable[[Sequence[Given]], Sequence[Result | Exception]]) -> None:
        self._work = work
        self._waiting: list[_Ticket[Given, Result]] = []
        self._line = threading.Lock()
        self._turn = threading.Lock()

    def take(self, given: Given) -> Result:
        """Process `given` and return the result."""
        ticket: _Ticket[Given, Result] = _Ticket(given)
        with self._line:
            self._waiting.append(ticket)
        while not ticket.results:
            with self._turn:
                if not ticket.results:
                    self._do_next()
        result = ticket.results[0]
        if isinstance(result, Exception):
            raise result
        return result

    def _do_next(self) -> None:
        with self._line:
            batch, self._waiting = self._waiting[:MAX_TOGETHER], self._waiting[MAX_TOGETHER:]
        try:
            results = self._work([ticket.given for ticket in batch])
        except Exception as fault:
            results = [fault] * len(batch)
        except BaseException:
            for ticket in batch:
                ticket.results.append(RuntimeError("interrupted"))
            raise
        for ticket, result in zip(batch, results, strict=True):
            ticket.results.append(result)


EMBEDDER = "novelty:embedder"
PARAMS = "novelty:params:"


class NoveltyDesk:
    """A desk: submit texts and be paid, check what one would get, and read balances.

    What an operator may do, and the longer reports, are functions beside this class.
    """

    def __init__(
        self, store: Store, senses: Senses, corpus: Corpus, rules: IntakeRules, now: Callable[[], float]
    ) -> None:
        self.store = store
        self.rules = rules
        self.senses = senses
        self._corpus = corpus
        self._now = now
        self._turns: SharedTurns[NoveltySubmission, Receipt] = SharedTurns(self._commit)

    @property
    def params(self) -> NoveltyParams:
        return self.rules.params

    def submit(self, contributor: str, text: str, key: str | None = None, scope: str = "") -> Receipt:
        """One atomic step; the receipt says what was paid. A key is the caller's, `scope` says which caller's."""
        return self.hand_over(self.prepare(contributor, text, key, scope))

    def hand_over(self, given: NoveltySubmission) -> Receipt:
        """A prepared submission in its turn; those who wait at the same time share one commit."""
        return self._turns.take(given)

    def check(self, text: str, contributor: str | None = None) -> NoveltyQuote:
        """Preview `submit` for this contributor, or for a new one; nothing is written."""
        parse_text(text, self.params)
        form = digest_form(text)
        with self.store.read() as connection:
            first = select_form(connection, form)
        if first is not None:
            return NoveltyQuote("duplicate", MILLION, first, 0, ())
        doubts = find_doubts(prepare_text(text, self._lenient, self.senses.word_pieces).look)
        if doubts and self.params.gate == "deny":
            return NoveltyQuote("refused", 0, None, 0, doubts)
        measured = measure_text(text, self.params, self.senses)
        return self._quote(measured, contributor)

    def _quote(self, measured: MeasuredText, contributor: str | None) -> NoveltyQuote:
        dimensions, params = self.senses.embedder.dimensions, self.params
        with self.store.read() as connection:
            near, *rest = self._corpus.nearest(connection, list_queries(measured))
            known = StoreKnowledge(connection, dimensions, self._corpus.size(connection), params, self._now())
            nearest = (str(near.contribution), near.micro) if near else None
            sentences = [one.micro if one else 0 for one in rest]
            facts = gather_facts(measured, contributor, nearest, sentences, known, params, self.rules.entailment)
        micro = near.micro if near else 0
        value = value_contribution(micro, facts, params)
        judged = judge_value(value.units, not measured.doubts, params)
        found = near.contribution if near else None
        return NoveltyQuote(judged.status, micro, found, judged.units, measured.doubts, facts, value)

    def balance(self, contributor: str) -> dict[str, Any]:
        """`{contributor, units, held}`; `unknown_contributor` if it never submitted."""
        from weighbeam.mechanisms.novelty.desk.accounts import select_contributor_balance

        return select_contributor_balance(self.store, contributor)

    def balances(self, limit: int = 1000, after: str = "") -> list[dict[str, Any]]:
        """At most `limit` balances, by contributor, from the one after `after` on."""
        from weighbeam.mechanisms.novelty.desk.accounts import select_balances

        return select_balances(self.store, limit, after)

    def tokens(self, units: int) -> str:
        """Units as tokens, every digit."""
        return format_tokens(units, self.params)

    @staticmethod
    def verify(receipt: Receipt, node: str | None = None) -> str:
        """The address that signed a receipt; `bad_receipt` if none did, or another than `node`."""
        return check_receipt(receipt, node)

    def prepare(self, contributor: str, text: str, key: str | None = None, scope: str = "") -> NoveltySubmission:
        """Everything that can be done before the lock: refusals, known answers, the model."""
        given = self.identify(contributor, text, key, scope)
        return given if self.is_known(given) else replace(given, measured=self.measure([text])[0])

    def identify(
        self, contributor: str, text: str, key: str | None = None, scope: str = "", imported: bool = False
    ) -> NoveltySubmission:
        """By what a submission is known; refused if it can be none. No model is asked."""
        name = check_contributor(contributor)
        parse_text(text, self.params)
        digest = digest_text(text)
        named = digest_json(["key", scope, check_key(key)] if key is not None else ["text", scope, name, digest])
        return NoveltySubmission(name, named, digest, digest_form(text), None, imported)

    def is_known(self, given: NoveltySubmission) -> bool:
        """Whether its key or its text was here before; `key_conflict` if the key was another's."""
        with self.store.read() as connection:
            before = select_by_key(connection, given.key)
            known = before is not None or select_form(connection, given.form) is not None
        if before is not None:
            repeat(before, given)
        return known

    def measure(self, texts: Sequence[str], imported: bool = False) -> list[MeasuredText]:
        """Measure acceptable texts; texts that are only compared are never denied."""
        return measure_texts(texts, self._lenient if imported else self.params, self.senses)

    @property
    def _lenient(self) -> NoveltyParams:
        return self.params.model_copy(update={"gate": "hold"})

    def load(self) -> int:
        """Have the model and the corpus at hand before anybody comes; how many pieces the corpus has."""
        self.senses.embedder.embed(["ready"])
        return self.count_pieces()

    def count_pieces(self) -> int:
        return self._corpus.load()

    def take_in(self, given: Sequence[NoveltySubmission]) -> list[Receipt | Exception]:
        """Many prepared submissions in one transaction, in order."""
        return self._commit(given)

    def _commit(self, given: Sequence[NoveltySubmission]) -> list[Receipt | Exception]:
        measured = [rows for one in given if one.measured is not None for rows in list_queries(one.measured)]
        ahead = self._corpus.look_ahead(measured) if measured else None
        with self.store.write() as connection:
            return IntakeTransaction(connection, self._corpus, self.rules, self._now()).take_in(given, ahead)


def open_desk(
    store: Store,
    senses: Senses,
    key: Hotkey,
    params: NoveltyParams | None = None,
    limits: PayLimits | None = None,
    scan: CorpusScan = "auto",
    now: Callable[[], float] = time.time,
) -> NoveltyDesk:
    """A desk over a store; `embedder_changed` if its corpus was made by another embedder."""
    chosen = params or NoveltyParams()
    claim_corpus(store, senses.embedder)
    named = {
        "embedder": {"id": senses.embedder.id, "digest": senses.embedder.digest},
        "params_hash": insert_params(store, chosen, name_senses(chosen, senses)),
    }

    def sign(body: Mapping[str, Any]) -> Receipt:
        return sign_receipt(body, key)

    sign_desk(store, key, now)
    index_older(store)
    corpus = open_corpus(store, senses.embedder.dimensions, scan)
    return NoveltyDesk(
        store,
        senses,
        corpus,
        IntakeRules(
            chosen,
            limits or PayLimits(),
            named,
            sign,
            senses.entailment if chosen.wants_entailment else None,
        ),
        now,
    )


def claim_corpus(store: Store, embedder: Embedder) -> None:
    """Vectors of two embedders cannot be compared: a corpus belongs to the one that began it."""
    ours = {"id": embedder.id, "digest": embedder.digest, "dimensions": embedder.dimensions}
    found = recall(store, EMBEDDER)
    if found is None:
        with store.write() as connection:
            found = look_up(connection, EMBEDDER) or ours
            note(connection, EMBEDDER, found)
    if found != ours:
        told = f"this corpus was made by {found['id']}, digest {found['digest'][:12]}"
        raise WeighbeamError("embedder_changed", told, "use that embedder, or import the texts into a new store")


def insert_params(store: Store, params: NoveltyParams, senses: Mapping[str, Any]) -> str:
    """Under what a desk pays, kept by the hash that its receipts name, so that every payment can be computed again."""
    found = hash_params(Novelty(), params, senses)
    if recall(store, PARAMS + found) is None:
        remember(store, PARAMS + found, {"params": params.model_dump(mode="json"), "senses": dict(senses)})
    return found
