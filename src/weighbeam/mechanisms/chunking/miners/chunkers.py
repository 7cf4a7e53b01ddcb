"""Chunkers by name: our own, and those of the package index (extra `weighbeam[chunkers]`), set to count characters."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.chunking.miners import climb, packing
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


def semantic_text_splitter(document: str, chunk_size: int, chunk_qty: int, senses: Senses) -> list[str]:
    from semantic_text_splitter import TextSplitter

    return list(TextSplitter(chunk_size).chunks(document))


def chonkie_recursive(document: str, chunk_size: int, chunk_qty: int, senses: Senses) -> list[str]:
    from chonkie import RecursiveChunker

    return _texts(RecursiveChunker(tokenizer="character", chunk_size=chunk_size)(document))


def chonkie_sentence(document: str, chunk_size: int, chunk_qty: int, senses: Senses) -> list[str]:
    from chonkie import SentenceChunker

    return _texts(SentenceChunker(tokenizer="character", chunk_size=chunk_size, chunk_overlap=0)(document))


def chonkie_token(document: str, chunk_size: int, chunk_qty: int, senses: Senses) -> list[str]:
    from chonkie import TokenChunker

    return _texts(TokenChunker(tokenizer="character", chunk_size=chunk_size, chunk_overlap=0)(document))


def semchunk(document: str, chunk_size: int, chunk_qty: int, senses: Senses) -> list[str]:
    from semchunk import chunkerify

    pieces: Any = chunkerify(len, chunk_size)(document)
    return list(pieces)


def langchain_recursive(document: str, chunk_size: int, chunk_qty: int, senses: Senses) -> list[str]:
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    return list(RecursiveCharacterTextSplitter(chunk_size=chunk_size, chunk_overlap=0).split_text(document))


def _texts(chunks: Any) -> list[str]:
    return [chunk.text for chunk in chunks]


CHUNKERS = {
    chunker.name: chunker
    for chunker in (
        Chunker("sentences", "whole sentences, packed to the limit", packing.pack_sentences),
        Chunker("paragraphs", "whole paragraphs, packed to the limit", packing.pack_paragraphs),
        Chunker("climb", "sentence cuts moved uphill on the validator's own embedder", climb.climb_cuts),
        Chunker(
            "semantic-text-splitter",
            "largest semantic level that fits",
            semantic_text_splitter,
            "semantic_text_splitter",
        ),
        Chunker("chonkie-recursive", "recursive separators", chonkie_recursive, "chonkie"),
        Chunker("chonkie-sentence", "sentence groups", chonkie_sentence, "chonkie"),
        Chunker("chonkie-token", "fixed numbers of tokens: cuts words, so it fails", chonkie_token, "chonkie"),
        Chunker("semchunk", "recursive by meaning of separators", semchunk, "semchunk"),
        Chunker("langchain-recursive", "recursive characters", langchain_recursive, "langchain_text_splitters"),
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
