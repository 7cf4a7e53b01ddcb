"""The novelty desk: hand in a contribution, be paid for how unlike everything before it is, and get a receipt.

    desk = open_desk(Store("sqlite:///novelty.db"), LocalSenses(), key)
    receipt = desk.submit("ada", "Sea otters hold hands while they sleep.")

Any number of threads and processes may use one store. What a desk answered is on disk; what it did not answer is
either whole on disk or not there at all.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from weighbeam.core.canonical import digest_json, digest_text
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.quantise import MILLION
from weighbeam.mechanisms.make_params import hash_params
from weighbeam.mechanisms.novelty.identity import digest_form
from weighbeam.mechanisms.novelty.judge import judge
from weighbeam.mechanisms.novelty.measure import Measured, measure_text, measure_texts, read_pieces
from weighbeam.mechanisms.novelty.mechanism import Novelty
from weighbeam.mechanisms.novelty.observe import name_senses
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.plausible import find_doubts
from weighbeam.mechanisms.novelty.read_text import read_text
from weighbeam.network.keys import Hotkey
from weighbeam.network.receipts import sign_receipt
from weighbeam.novelty.corpus import Corpus
from weighbeam.novelty.ledger import Limits
from weighbeam.novelty.open_corpus import CorpusScan, open_corpus
from weighbeam.novelty.records import Checked, Submission, check_contributor, check_key
from weighbeam.novelty.take_in import Receipt, Rules, Turn, find_by_key, find_form, repeat
from weighbeam.novelty.turns import Turns
from weighbeam.senses.ports import Embedder, Senses
from weighbeam.store.database import Store
from weighbeam.store.remember import look_up, note, recall, remember

EMBEDDER = "novelty:embedder"
PARAMS = "novelty:params:"


class Desk:
    """Submit and check. Reading what a store holds, and what an operator may do, are functions beside this one."""

    def __init__(self, store: Store, senses: Senses, corpus: Corpus, rules: Rules, now: Callable[[], float]) -> None:
        self.store = store
        self.rules = rules
        self.senses = senses
        self._corpus = corpus
        self._now = now
        self._turns: Turns[Submission, Receipt] = Turns(self._commit)

    @property
    def params(self) -> NoveltyParams:
        return self.rules.params

    def submit(self, contributor: str, text: str, key: str | None = None, scope: str = "") -> Receipt:
        """One atomic step; the receipt says what was paid. A key is the caller's, `scope` says which caller's."""
        return self.hand_over(self.prepare(contributor, text, key, scope))

    def hand_over(self, given: Submission) -> Receipt:
        """A prepared submission in its turn; those who wait at the same time share one commit."""
        return self._turns.take(given)

    def check(self, text: str) -> Checked:
        """What `submit` would give now; nothing is written."""
        read_text(text, self.params)
        form = digest_form(text)
        with self.store.read() as connection:
            first = find_form(connection, form)
        if first is not None:
            return Checked("duplicate", MILLION, first, 0, ())
        doubts = find_doubts(read_pieces(text, self._lenient, self.senses.word_pieces).look)
        if doubts and self.params.gate == "deny":
            return Checked("refused", 0, None, 0, doubts)
        measured = measure_text(text, self.params, self.senses)
        with self.store.read() as connection:
            (near,) = self._corpus.nearest(connection, [measured.vectors])
        micro = near.micro if near else 0
        judged = judge(micro, not measured.doubts, self.params)
        return Checked(judged.status, micro, near.contribution if near else None, judged.units, measured.doubts)

    def prepare(self, contributor: str, text: str, key: str | None = None, scope: str = "") -> Submission:
        """Everything that can be done before the lock: refusals, known answers, the model."""
        given = self.identify(contributor, text, key, scope)
        return given if self.is_known(given) else replace(given, measured=self.measure([text])[0])

    def identify(
        self, contributor: str, text: str, key: str | None = None, scope: str = "", imported: bool = False
    ) -> Submission:
        """By what a submission is known; refused if it can be none. No model is asked."""
        name = check_contributor(contributor)
        read_text(text, self.params)
        digest = digest_text(text)
        named = digest_json(["key", scope, check_key(key)] if key is not None else ["text", scope, name, digest])
        return Submission(name, named, digest, digest_form(text), None, imported)

    def is_known(self, given: Submission) -> bool:
        """Whether its key or its text was here before; `key_conflict` if the key was another's."""
        with self.store.read() as connection:
            before = find_by_key(connection, given.key)
            known = before is not None or find_form(connection, given.form) is not None
        if before is not None:
            repeat(before, given)
        return known

    def measure(self, texts: Sequence[str], imported: bool = False) -> list[Measured]:
        """What the model says of texts that can be taken; nobody is denied what is only compared with."""
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

    def take_in(self, given: Sequence[Submission]) -> list[Receipt | Exception]:
        """Many prepared submissions in one transaction, in order."""
        return self._commit(given)

    def _commit(self, given: Sequence[Submission]) -> list[Receipt | Exception]:
        measured = [one.measured.vectors for one in given if one.measured is not None]
        ahead = self._corpus.look_ahead(measured) if measured else None
        with self.store.write() as connection:
            return Turn(connection, self._corpus, self.rules, self._now()).take_in(given, ahead)


def open_desk(
    store: Store,
    senses: Senses,
    key: Hotkey,
    params: NoveltyParams | None = None,
    limits: Limits | None = None,
    scan: CorpusScan = "auto",
    now: Callable[[], float] = time.time,
) -> Desk:
    """A desk over a store; `embedder_changed` if its corpus was made by another embedder."""
    chosen = params or NoveltyParams()
    claim_corpus(store, senses.embedder)
    named = {
        "embedder": {"id": senses.embedder.id, "digest": senses.embedder.digest},
        "params_hash": keep_params(store, chosen, name_senses(senses)),
    }

    def sign(body: Mapping[str, Any]) -> Receipt:
        return sign_receipt(body, key)

    corpus = open_corpus(store, senses.embedder.dimensions, scan)
    return Desk(store, senses, corpus, Rules(chosen, limits or Limits(), named, sign), now)


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


def keep_params(store: Store, params: NoveltyParams, senses: Mapping[str, Any]) -> str:
    """Under what a desk pays, kept by the hash that its receipts name, so that every payment can be computed again."""
    found = hash_params(Novelty(), params, senses)
    if recall(store, PARAMS + found) is None:
        remember(store, PARAMS + found, {"params": params.model_dump(mode="json"), "senses": dict(senses)})
    return found
