"""Chunkers of the package index (extra `weighbeam[chunkers]`), told to count characters."""

from typing import Any

from weighbeam.senses.ports.protocols import Senses


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
