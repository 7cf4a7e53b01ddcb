"""The senses of this machine, by name and loaded when first used, and those of one round."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.lists import ListCheck, ReloadedLists, log_list_fault
from weighbeam.senses.adapters.memory import DiskVectors, RememberingEmbedder, RememberingEntailment
from weighbeam.senses.adapters.model_files import cache_folder
from weighbeam.senses.ports.protocols import (
    Ages,
    Assessor,
    Embedder,
    Entailment,
    ForgeryChecks,
    ObservationClock,
    Pages,
    Rulebook,
    Senses,
    Sentences,
    Sentiment,
    WordPieces,
)


class SystemClock:
    """The clocks of this machine."""

    def seconds(self) -> float:
        return time.monotonic()

    def utc(self) -> float:
        return time.time()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


@dataclass(frozen=True, slots=True)
class RoundSenses:
    """Everything but the lists is the machine's own."""

    machine: Senses
    rulebook: Rulebook

    @property
    def doubts(self) -> ForgeryChecks:
        return self.machine.doubts

    @property
    def clock(self) -> ObservationClock:
        return self.machine.clock

    @property
    def second_pages(self) -> Pages | None:
        return self.machine.second_pages

    @property
    def embedder(self) -> Embedder:
        return self.machine.embedder

    @property
    def word_pieces(self) -> WordPieces:
        return self.machine.word_pieces

    @property
    def entailment(self) -> Entailment:
        return self.machine.entailment

    @property
    def pages(self) -> Pages:
        return self.machine.pages

    @property
    def ages(self) -> Ages:
        return self.machine.ages

    @property
    def sentiment(self) -> Sentiment:
        return self.machine.sentiment

    @property
    def assessor(self) -> Assessor | None:
        return self.machine.assessor

    def sentences(self, name: str) -> Sentences:
        return self.machine.sentences(name)


if TYPE_CHECKING:
    from weighbeam.senses.adapters.cluster.client import Cluster
    from weighbeam.senses.adapters.pages.live import LiveSettings

DEFAULT_EMBEDDER = "minilm-fp32"
OWN_EMBEDDERS = (DEFAULT_EMBEDDER, "minilm-int8")
DEFAULT_ENTAILMENT = "nli-minilm"
EMBEDDER_NAMES = "minilm-fp32, minilm-int8, st:MODEL, openai:MODEL@URL"


def load_embedder(
    name: str, cache: Path, workers: int = 1, on_progress: Callable[[int, int], None] | None = None
) -> Embedder:
    """The embedder called `name`, without a memory."""
    if name in OWN_EMBEDDERS:
        from weighbeam.senses.adapters.embedding.minilm import load_minilm, load_minilm_int8

        minilm = (load_minilm if name == "minilm-fp32" else load_minilm_int8)(cache, workers)
        minilm.on_progress = on_progress
        return minilm
    kind, _, rest = name.partition(":")
    if kind == "st" and rest:
        from weighbeam.senses.adapters.embedding.sentence_transformer import SentenceTransformerEmbedder

        return SentenceTransformerEmbedder(rest)
    model, _, url = rest.partition("@")
    if kind == "openai" and model and url:
        from weighbeam.senses.adapters.embedding.openai_embedder import OpenAIEmbedder

        return OpenAIEmbedder(model, url)
    raise WeighbeamError("unknown_embedder", f"{name!r} is not an embedder", f"write one of: {EMBEDDER_NAMES}")


def load_entailment(name: str, workers: int = 1) -> Entailment:
    """The entailment sense called `name`, without a memory."""
    if name == DEFAULT_ENTAILMENT:
        from weighbeam.senses.adapters.entailment.nli_minilm import load_nli

        return load_nli(workers)
    kind, _, model = name.partition(":")
    if kind == "hf" and model:
        from weighbeam.senses.adapters.entailment.nli_transformers import TransformersEntailment

        return TransformersEntailment(model)
    raise WeighbeamError("unknown_entailment", f"{name!r} is not an entailment sense", "write nli-minilm or hf:MODEL")


class LocalSenses:
    """Embedder, entailment and splitters of this process. `remember` keeps what they find on disk between runs; with a
    `cluster`, its nodes embed, judge and read pages. With `late`, a model is opened only for what is new."""

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
        check_list: ListCheck | None = None,
        only_newer: bool = False,
        doubts: ForgeryChecks | None = None,
        second_address: str | None = None,
        cluster: "Cluster | None" = None,
        late: bool = False,
    ) -> None:
        self._embedder_name = embedder
        self._entailment_name = entailment
        self._cache = cache or cache_folder()
        self._remember = remember
        self._workers = workers or os.cpu_count() or 1
        self._on_progress = on_progress
        self._pages_name = pages
        self._live = live
        self._kept_lists = ReloadedLists(lists, extra_suffixes, check_list, only_newer)
        self.assessor = assessor
        self.on_fault: Callable[[WeighbeamError], None] = log_list_fault
        self.on_renewed: Callable[[], None] | None = None
        self.doubts = doubts or ForgeryChecks()
        self._second_address = second_address
        self.clock = SystemClock()
        self.cluster = cluster
        self._late = late

    @cached_property
    def embedder(self) -> RememberingEmbedder:
        inner = self._spread_embedder(self._load_embedder())
        if not self._remember:
            return RememberingEmbedder(inner)
        return RememberingEmbedder(inner, DiskVectors(self._cache / f"vectors-{inner.digest[:16]}.sqlite"))

    @cached_property
    def word_pieces(self) -> WordPieces:
        from weighbeam.senses.adapters.text.word_pieces import MiniLMPieces

        return MiniLMPieces()

    @cached_property
    def entailment(self) -> RememberingEntailment:
        inner = self._spread_entailment(self._load_entailment())
        if not self._remember:
            return RememberingEntailment(inner)
        return RememberingEntailment(inner, DiskVectors(self._cache / f"entailment-{inner.digest[:16]}.sqlite"))

    @cached_property
    def pages(self) -> Pages:
        """Source of pages: saved ones are read on this machine, live ones also by the cluster."""
        from weighbeam.senses.adapters.pages.live import LivePages, load_pages

        local = load_pages(self._pages_name, self._live)
        if self.cluster is None or not isinstance(local, LivePages):
            return local
        from weighbeam.senses.adapters.cluster.senses import spread_pages

        return spread_pages(self.cluster, local, self._live)

    @cached_property
    def second_pages(self) -> Pages | None:
        """The web as seen from the second address; an archive looks the same from everywhere."""
        if self._second_address is None or self._pages_name != "live":
            return None
        from weighbeam.senses.adapters.pages.live import load_pages_from

        return load_pages_from(self._second_address, self._live)

    @cached_property
    def ages(self) -> Ages:
        """An archive knows the ages of its domains; for the web the registries are asked."""
        from weighbeam.senses.adapters.pages.archive.pages import ArchivePages
        from weighbeam.senses.adapters.pages.domain_age import AgeSettings, RdapAges

        if isinstance(self.pages, ArchivePages):
            return self.pages
        return RdapAges(AgeSettings(user_agent=self._live.user_agent) if self._live else None)

    @property
    def rulebook(self) -> Rulebook:
        return self._kept_lists.current

    def renew(self) -> Senses:
        """Reload the lists; if they cannot be used, keep the last valid ones and call `on_fault`."""
        return RoundSenses(self, self._kept_lists.renew(self.on_fault, self.on_renewed))

    def _load_embedder(self) -> Embedder:
        load = partial(load_embedder, self._embedder_name, self._cache, self._workers, self._on_progress)
        if not self._late or self._embedder_name not in OWN_EMBEDDERS:
            return load()
        from weighbeam.senses.adapters.embedding.minilm import LateMiniLM

        return LateMiniLM(self._embedder_name, load)

    def _load_entailment(self) -> Entailment:
        if not self._late or self._entailment_name != DEFAULT_ENTAILMENT:
            return load_entailment(self._entailment_name, self._workers)
        from weighbeam.senses.adapters.entailment.nli_minilm import LateNli

        return LateNli(self._workers)

    def _spread_embedder(self, local: Embedder) -> Embedder:
        if self.cluster is None:
            return local
        from weighbeam.senses.adapters.cluster.senses import spread_embedder

        return spread_embedder(self.cluster, self._embedder_name, local)

    def _spread_entailment(self, local: Entailment) -> Entailment:
        if self.cluster is None:
            return local
        from weighbeam.senses.adapters.cluster.senses import ClusterEntailment

        return ClusterEntailment(self.cluster, self._entailment_name, local)

    @cached_property
    def sentiment(self) -> Sentiment:
        from weighbeam.senses.adapters.text.sentiment import VaderSentiment

        return VaderSentiment()

    def sentences(self, name: str) -> Sentences:
        if name not in self._splitters:
            self._splitters[name] = _load_splitter(name)
        return self._splitters[name]


def _load_splitter(name: str) -> Sentences:
    if name == "rules":
        from weighbeam.senses.adapters.text.sentences import RuleSentences

        return RuleSentences()
    if name == "adaptive":
        from weighbeam.senses.adapters.text.sentences import AdaptiveSentences

        return AdaptiveSentences()
    if name == "punkt":
        from weighbeam.senses.adapters.text.sentences import PunktSentences

        return PunktSentences()
    raise WeighbeamError("unknown_splitter", f"no sentence splitter is called {name!r}", "use adaptive, rules or punkt")
