"""Which corpus a desk searches: the embedded index, or the server's own vectors."""

from typing import Literal

from weighbeam.novelty.corpus import Corpus, StoreCorpus
from weighbeam.novelty.vector_corpus import VectorCorpus
from weighbeam.store.database import Store

CorpusScan = Literal["auto", "flat", "int8-bound", "pgvector"]


def open_corpus(store: Store, dimensions: int, scan: CorpusScan) -> Corpus:
    """All scans give the same answers; `pgvector` needs a store on PostgreSQL."""
    if scan == "pgvector":
        return VectorCorpus(store, dimensions)
    return StoreCorpus(store, dimensions, scan)
