"""The senses of one machine: by name, loaded when first used."""

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.clock import SystemClock
from weighbeam.senses.folders import cache_folder
from weighbeam.senses.keep_lists import KeptLists, log_fault
from weighbeam.senses.ports import (
    Ages,
    Assessor,
    Doubts,
    Embedder,
    Entailment,
    Pages,
    Rulebook,
    Senses,
    Sentences,
    Sentiment,
    WordPieces,
)
from weighbeam.senses.remember import DiskVectors, Remembering
from weighbeam.senses.remember_pairs import RememberingEntailment
from weighbeam.senses.round_senses import RoundSenses
from weighbeam.senses.rulebook import Check

if TYPE_CHECKING:
    from weighbeam.senses.cluster.client import Cluster
    from weighbeam.senses.pages.live import LiveSettings

DEFAULT_EMBEDDER = "minilm-fp32"
DEFAULT_ENTAILMENT = "nli-minilm"
EMBEDDER_NAMES = "minilm-fp32, minilm-int8, st:MODEL, openai:MODEL@URL"


def load_embedder(
    name: str, cache: Path, workers: int = 1, on_progress: Callable[[int, int], None] | None = None
) -> Embedder:
    """The embedder called `name`, without a memory."""
    if name in ("minilm-fp32", "minilm-int8"):
        from weighbeam.senses.minilm import load_minilm, load_minilm_int8

        minilm = load_minilm(cache, workers) if name == "minilm-fp32" else load_minilm_int8(workers)
        minilm.on_progress = on_progress
        return minilm
    kind, _, rest = name.partition(":")
    if kind == "st" and rest:
        from weighbeam.senses.embed_st import SentenceTransformerEmbedder

        return SentenceTransformerEmbedder(rest)
    model, _, url = rest.partition("@")
    if kind == "openai" and model and url:
        from weighbeam.senses.embed_openai import OpenAIEmbedder

        return OpenAIEmbedder(model, url)
    raise WeighbeamError("unknown_embedder", f"{name!r} names no embedder", f"write one of: {EMBEDDER_NAMES}")


def load_entailment(name: str, workers: int = 1) -> Entailment:
    """The entailment sense called `name`, without a memory."""
    if name == DEFAULT_ENTAILMENT:
        from weighbeam.senses.nli import load_nli

        return load_nli(workers)
    kind, _, model = name.partition(":")
    if kind == "hf" and model:
        from weighbeam.senses.nli_transformers import TransformersEntailment

        return TransformersEntailment(model)
    raise WeighbeamError("unknown_entailment", f"{name!r} names no entailment sense", "write nli-minilm or hf:MODEL")


class LocalSenses:
    """Embedder, entailment and splitters of this process. `remember` keeps what they find on disk between runs; with a
    `cluster`, its nodes embed, judge and read pages."""

    _splitters: ClassVar[dict[str, Sentences]] = {}

    def __init__(
        self,
        embedder: str = DEFAULT_EMBEDDER,
        cache: Path | None = None,
        remember: bool = True,
        workers: int | None = None,
        on_progress: Callable[[int, int], None] | None = None,
        entailment: str = DEFAULT_ENTAILMENT,
        pages: str = "live",
        lists: Path | None = None,
        extra_suffixes: tuple[str, ...] = (),
        assessor: Assessor | None = None,
        live: "LiveSettings | None" = None,
        check_list: Check | None = None,
        only_newer: bool = False,
        doubts: Doubts | None = None,
        second_address: str | None = None,
        cluster: "Cluster | None" = None,
    ) -> None:
        self._embedder_name = embedder
        self._entailment_name = entailment
        self._cache = cache or cache_folder()
        self._remember = remember
        self._workers = workers or os.cpu_count() or 1
        self._on_progress = on_progress
        self._pages_name = pages
        self._live = live
        self._kept_lists = KeptLists(lists, extra_suffixes, check_list, only_newer)
        self.assessor = assessor
        self.on_fault: Callable[[WeighbeamError], None] = log_fault
        self.on_renewed: Callable[[], None] | None = None
        self.doubts = doubts or Doubts()
        self._second_address = second_address
        self.clock = SystemClock()
        self.cluster = cluster

    @cached_property
    def embedder(self) -> Remembering:
        inner = self._spread_embedder(load_embedder(self._embedder_name, self._cache, self._workers, self._on_progress))
        if not self._remember:
            return Remembering(inner)
        return Remembering(inner, DiskVectors(self._cache / f"vectors-{inner.digest[:16]}.sqlite"))

    @cached_property
    def word_pieces(self) -> WordPieces:
        from weighbeam.senses.word_pieces import MiniLMPieces

        return MiniLMPieces()

    @cached_property
    def entailment(self) -> RememberingEntailment:
        inner = self._spread_entailment(load_entailment(self._entailment_name, self._workers))
        if not self._remember:
            return RememberingEntailment(inner)
        return RememberingEntailment(inner, DiskVectors(self._cache / f"entailment-{inner.digest[:16]}.sqlite"))

    @cached_property
    def pages(self) -> Pages:
        """What was saved is on this machine; the web is everywhere."""
        from weighbeam.senses.pages.live import LivePages
        from weighbeam.senses.pages.load import load_pages

        local = load_pages(self._pages_name, self._live)
        if self.cluster is None or not isinstance(local, LivePages):
            return local
        from weighbeam.senses.cluster.ports import spread_pages

        return spread_pages(self.cluster, local, self._live)

    @cached_property
    def second_pages(self) -> Pages | None:
        """The web as seen from the second address; an archive looks the same from everywhere."""
        if self._second_address is None or self._pages_name != "live":
            return None
        from weighbeam.senses.pages.load import load_pages_from

        return load_pages_from(self._second_address, self._live)

    @cached_property
    def ages(self) -> Ages:
        """An archive knows the ages of its domains; for the web the registries are asked."""
        from weighbeam.senses.pages.age import AgeSettings, RdapAges
        from weighbeam.senses.pages.archive import ArchivePages

        if isinstance(self.pages, ArchivePages):
            return self.pages
        return RdapAges(AgeSettings(user_agent=self._live.user_agent) if self._live else None)

    @property
    def rulebook(self) -> Rulebook:
        return self._kept_lists.current

    def renew(self) -> Senses:
        """With the lists as they are now; if those cannot be used, with the last good ones, and `on_fault` is told."""
        return RoundSenses(self, self._kept_lists.renew(self.on_fault, self.on_renewed))

    def _spread_embedder(self, local: Embedder) -> Embedder:
        if self.cluster is None:
            return local
        from weighbeam.senses.cluster.ports import spread_embedder

        return spread_embedder(self.cluster, self._embedder_name, local)

    def _spread_entailment(self, local: Entailment) -> Entailment:
        if self.cluster is None:
            return local
        from weighbeam.senses.cluster.ports import ClusterEntailment

        return ClusterEntailment(self.cluster, self._entailment_name, local)

    @cached_property
    def sentiment(self) -> Sentiment:
        from weighbeam.senses.sentiment import VaderSentiment

        return VaderSentiment()

    def sentences(self, name: str) -> Sentences:
        if name not in self._splitters:
            self._splitters[name] = _load_splitter(name)
        return self._splitters[name]


def _load_splitter(name: str) -> Sentences:
    if name == "rules":
        from weighbeam.senses.sentences import RuleSentences

        return RuleSentences()
    if name == "punkt":
        from weighbeam.senses.punkt import PunktSentences

        return PunktSentences()
    raise WeighbeamError("unknown_splitter", f"no sentence splitter is called {name!r}", "use rules or punkt")
