"""Open a novelty desk from the location of its store, with the node's own key if there is no wallet.

desk = open_novelty("novelty.db")
receipt = desk.submit("ada", "Sea otters hold hands while they sleep.")
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, NoReturn

from weighbeam.app.node_key import find_key_file, find_url, open_node_key
from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_integer
from weighbeam.engine.journal.access import open_journal, view_journal
from weighbeam.mechanism.params import make_params
from weighbeam.mechanisms.novelty.desk.corpus import StoreCorpus
from weighbeam.mechanisms.novelty.desk.desk import EMBEDDER, NoveltyDesk, claim_corpus, open_desk
from weighbeam.mechanisms.novelty.desk.intake import IntakeRules, Receipt
from weighbeam.mechanisms.novelty.desk.ledger import PayLimits
from weighbeam.mechanisms.novelty.desk.piece_vectors import lacks_vectors
from weighbeam.mechanisms.novelty.desk.seals import sign_desk
from weighbeam.mechanisms.novelty.desk.vector_corpus import CorpusScan, open_corpus
from weighbeam.mechanisms.novelty.mechanism import Novelty
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.network.keys import Hotkey
from weighbeam.network.receipts import sign_receipt
from weighbeam.senses.local import DEFAULT_EMBEDDER, LocalSenses
from weighbeam.senses.ports.protocols import Senses
from weighbeam.store.database import Store
from weighbeam.store.memory import recall


def open_novelty(
    place: str | Path,
    key: Hotkey | None = None,
    params: NoveltyParams | Mapping[str, Any] | None = None,
    limits: PayLimits | Mapping[str, int | None] | None = None,
    senses: Senses | None = None,
    scan: CorpusScan = "auto",
) -> NoveltyDesk:
    """Open a desk that pays for texts nobody has said before, with no chain.

    `place` is its store, a file or a database URL, made if it is not there. `params` are parameters by name; `limits`
    are `per_day` and `per_contributor`, the most units paid in a day. Without `key` the desk signs with the file
    `novelty.key` beside the store; without `senses` it uses the embedder that the corpus began with.
    """
    where, rules = str(place), make_novelty_params(params)
    limit = limits if isinstance(limits, PayLimits) else make_pay_limits(limits or {})
    signer = key or open_node_key(find_key_file(where))
    store = Store(find_url(where))
    return open_desk(store, senses or open_own_senses(store), signer, rules, limit, scan)


def make_novelty_params(given: NoveltyParams | Mapping[str, Any] | None) -> NoveltyParams:
    """Parameters by name, the others by default; `bad_params` for a name or value that cannot be."""
    params = given if isinstance(given, NoveltyParams) else make_params(Novelty(), given)
    assert isinstance(params, NoveltyParams)
    return params


def make_pay_limits(given: Mapping[str, int | None]) -> PayLimits:
    """Limits by name; `bad_params` for a name that is not a limit, or a value that is not a number of units."""
    known = [one.name for one in fields(PayLimits)]
    for name, units in given.items():
        sound = name in known and (units is None or is_integer(units, 0))
        require(sound, "bad_params", f"no limit is {name} = {units!r}", f"give whole units for {' or '.join(known)}")
    return PayLimits(**given)


def open_to_check(
    place: str, params: NoveltyParams | None = None, senses: Senses | None = None, scan: CorpusScan = "auto"
) -> NoveltyDesk:
    """A desk that only checks, over a store that is there: it needs no key and leaves nothing behind."""
    store = view_kept(place)
    if recall(store, EMBEDDER) is None:
        raise WeighbeamError("no_corpus", f"nothing was contributed to {place} yet", "submit or import something first")
    chosen = senses or open_own_senses(store)
    claim_corpus(store, chosen.embedder)
    corpus = open_corpus(store, chosen.embedder.dimensions, "auto" if lacks_vectors(store) else scan)
    applied = params or NoveltyParams()
    judge = chosen.entailment if applied.wants_entailment else None
    return NoveltyDesk(store, chosen, corpus, IntakeRules(applied, PayLimits(), {}, _refuse_to_sign, judge), time.time)


def open_to_decide(place: str, key: Hotkey | None = None) -> NoveltyDesk:
    """A desk for an operator's decisions, over a store that is there: no model is loaded."""
    with explain_missing_store():
        store = open_journal(place)
    signer = key or open_node_key(find_key_file(place))

    def sign(body: Mapping[str, Any]) -> Receipt:
        return sign_receipt(body, signer)

    sign_desk(store, signer, time.time)
    begun = recall(store, EMBEDDER)
    corpus = StoreCorpus(store, begun["dimensions"] if begun else 1)
    return NoveltyDesk(store, LocalSenses(), corpus, IntakeRules(NoveltyParams(), PayLimits(), {}, sign), time.time)


def view_kept(place: str) -> Store:
    """A store that is there, to be looked at; none is made."""
    with explain_missing_store():
        return view_journal(place)


@contextmanager
def explain_missing_store() -> Iterator[None]:
    """How a store comes about that is not there yet."""
    try:
        yield
    except WeighbeamError as fault:
        if fault.code not in ("no_such_file", "empty_journal"):
            raise
        raise WeighbeamError(
            fault.code, fault.message, "submit or import something first, or name its --store"
        ) from None


def open_own_senses(store: Store) -> LocalSenses:
    """The embedder that the corpus was begun with, the default one for a new corpus."""
    begun = recall(store, EMBEDDER)
    return LocalSenses(begun["id"] if begun else DEFAULT_EMBEDDER)


def _refuse_to_sign(body: Mapping[str, Any]) -> NoReturn:
    raise WeighbeamError("store_fault", f"a desk that only checks cannot sign {body.get('kind')}", "report it")
