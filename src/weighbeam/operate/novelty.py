"""Open a novelty desk by the place of its store.

desk = open_novelty("novelty.db")
receipt = desk.submit("ada", "Sea otters hold hands while they sleep.")
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.read_journal import open_journal, view_journal
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.network.keys import Hotkey
from weighbeam.network.receipts import sign_receipt
from weighbeam.novelty.corpus import StoreCorpus
from weighbeam.novelty.desk import EMBEDDER, Desk, claim_corpus, open_desk
from weighbeam.novelty.ledger import Limits
from weighbeam.novelty.open_corpus import CorpusScan, open_corpus
from weighbeam.novelty.take_in import Receipt, Rules
from weighbeam.operate.node_key import open_node_key
from weighbeam.senses.local import DEFAULT_EMBEDDER, LocalSenses
from weighbeam.senses.ports import Senses
from weighbeam.store.database import Store
from weighbeam.store.remember import recall
from weighbeam.store.vectors import lacks_vectors

KEY_FILE = "novelty.key"
SQLITE = "sqlite:///"


def open_novelty(
    place: str,
    key: Hotkey | None = None,
    params: NoveltyParams | None = None,
    limits: Limits | None = None,
    senses: Senses | None = None,
    scan: CorpusScan = "auto",
) -> Desk:
    """A desk over the store at `place`, a file or database URL, made if it is not there.

    Without `key` it signs with the file `novelty.key` beside the store; without `senses` it reads with the embedder
    that the corpus was begun with.
    """
    signer = key or open_node_key(find_key_file(place))
    store = Store(find_url(place))
    return open_desk(store, senses or open_own_senses(store), signer, params, limits, scan)


def open_to_check(
    place: str, params: NoveltyParams | None = None, senses: Senses | None = None, scan: CorpusScan = "auto"
) -> Desk:
    """A desk that only checks, over a store that is there: it needs no key and leaves nothing behind."""
    store = view_kept(place)
    if recall(store, EMBEDDER) is None:
        raise WeighbeamError("no_corpus", f"nothing was contributed to {place} yet", "submit or import something first")
    chosen = senses or open_own_senses(store)
    claim_corpus(store, chosen.embedder)
    corpus = open_corpus(store, chosen.embedder.dimensions, "auto" if lacks_vectors(store) else scan)
    return Desk(store, chosen, corpus, Rules(params or NoveltyParams(), Limits(), {}, _refuse_to_sign), time.time)


def open_to_decide(place: str, key: Hotkey | None = None) -> Desk:
    """A desk for an operator's decisions, over a store that is there: no model is loaded."""
    with told():
        store = open_journal(place)
    signer = key or open_node_key(find_key_file(place))

    def sign(body: Mapping[str, Any]) -> Receipt:
        return sign_receipt(body, signer)

    begun = recall(store, EMBEDDER)
    corpus = StoreCorpus(store, begun["dimensions"] if begun else 1)
    return Desk(store, LocalSenses(), corpus, Rules(NoveltyParams(), Limits(), {}, sign), time.time)


def view_kept(place: str) -> Store:
    """A store that is there, to be looked at; none is made."""
    with told():
        return view_journal(place)


@contextmanager
def told() -> Iterator[None]:
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


def find_url(place: str) -> str:
    return place if "://" in place else f"{SQLITE}{place}"


def find_key_file(place: str) -> Path:
    """Beside the store's file; in the current folder if the store is a server."""
    url = find_url(place)
    folder = Path(url.removeprefix(SQLITE)).parent if url.startswith(SQLITE) else Path()
    return folder / KEY_FILE


def _refuse_to_sign(body: Mapping[str, Any]) -> NoReturn:
    raise WeighbeamError("store_fault", f"a desk that only checks was to sign {body.get('kind')}", "report it")
