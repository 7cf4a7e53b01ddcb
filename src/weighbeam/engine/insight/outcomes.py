"""A miner's scores with their parts, and the best of the same rounds, from what the journal says each round led to."""

import json
import threading
from collections import OrderedDict
from collections.abc import Sequence

from sqlalchemy import Connection, select

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.abilities import Pair
from weighbeam.mechanisms.contract import Score, Scored
from weighbeam.store import tables
from weighbeam.store.blobs import read_blob

MOST_KNOWN = 512
KNOWN: OrderedDict[str, tuple[Score, ...]] = OrderedDict()
LOCK = threading.Lock()


def read_pairs(connection: Connection, rounds: Sequence[str], hotkey: str) -> list[Pair]:
    """In the order given; a round whose content is gone is left out."""
    entries = tables.entries.c
    query = select(entries.ref, entries.body).where(entries.kind == "round", entries.ref.in_(list(rounds)))
    still = query.join(tables.blobs, tables.blobs.c.digest == entries.body)
    digests = {row.ref: row.body for row in connection.execute(still)}
    pairs = []
    for round_id in rounds:
        scores = _recall_scores(connection, digests.get(round_id))
        own = next((score for score in scores if score.hotkey == hotkey), None)
        if own is not None:
            pairs.append((own, find_best(scores)))
    return pairs


def find_best(scores: Sequence[Score]) -> Score | None:
    """The valid score of the highest value; of equals, the first by name."""
    valid = [score for score in scores if score.status == "valid" and score.value is not None]
    return min(valid, key=lambda score: (-(score.value or 0.0), score.hotkey), default=None)


def _recall_scores(connection: Connection, digest: str | None) -> Sequence[Score]:
    """An outcome never changes, and those of the last rounds are looked at for one miner after the other."""
    if digest is None:
        return ()
    with LOCK:
        if digest in KNOWN:
            KNOWN.move_to_end(digest)
            return KNOWN[digest]
    try:
        written = json.loads(read_blob(connection, digest))["scored"]
    except WeighbeamError:
        return ()
    scores = Scored.from_json(written).scores
    with LOCK:
        KNOWN[digest] = scores
        while len(KNOWN) > MOST_KNOWN:
            KNOWN.popitem(last=False)
    return scores
