"""Chunkers by name."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.chunking.miners import climb, packages, packing
from weighbeam.senses.ports.protocols import Senses

Cut = Callable[[str, int, int, Senses], list[str]]


@dataclass(frozen=True, slots=True)
class Chunker:
    """A named way to cut; `needs` is the module of a package that may be missing."""

    name: str
    about: str
    cut: Cut
    needs: str | None = None

    @property
    def installed(self) -> bool:
        return self.needs is None or find_spec(self.needs) is not None

    def load(self) -> None:
        """Import the package now, so that its import is not timed as cutting."""
        if self.needs is not None:
            import_module(self.needs)


CHUNKERS = {
    chunker.name: chunker
    for chunker in (
        Chunker("sentences", "whole sentences, packed to the limit", packing.pack_sentences),
        Chunker("paragraphs", "whole paragraphs, packed to the limit", packing.pack_paragraphs),
        Chunker("climb", "sentence cuts moved uphill on the validator's own embedder", climb.climb_cuts),
        Chunker(
            "semantic-text-splitter",
            "largest semantic level that fits",
            packages.semantic_text_splitter,
            "semantic_text_splitter",
        ),
        Chunker("chonkie-recursive", "recursive separators", packages.chonkie_recursive, "chonkie"),
        Chunker("chonkie-sentence", "sentence groups", packages.chonkie_sentence, "chonkie"),
        Chunker("chonkie-token", "fixed numbers of tokens: cuts words, so it fails", packages.chonkie_token, "chonkie"),
        Chunker("semchunk", "recursive by meaning of separators", packages.semchunk, "semchunk"),
        Chunker(
            "langchain-recursive", "recursive characters", packages.langchain_recursive, "langchain_text_splitters"
        ),
    )
}


def find_chunker(name: str) -> Chunker:
    """The chunker called `name`, installed."""
    chunker = CHUNKERS.get(name)
    if chunker is None:
        remedy = f"use one of: {', '.join(CHUNKERS)}; or FILE.py:function"
        raise WeighbeamError("unknown_chunker", f"no chunker is called {name!r}", remedy)
    if not chunker.installed:
        raise WeighbeamError("chunker_missing", f"{name} is not installed", "pip install 'weighbeam[chunkers]'")
    return chunker


def installed_chunkers() -> list[Chunker]:
    return [chunker for chunker in CHUNKERS.values() if chunker.installed]
