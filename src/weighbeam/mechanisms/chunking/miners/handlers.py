"""Reference chunking miners: honest ones that cut, hostile ones that each try one thing a validator must survive."""

import asyncio
from collections.abc import Callable
from typing import Any

from weighbeam.mechanisms.chunking.miners.chunkers import find_chunker
from weighbeam.mechanisms.chunking.miners.packing import pack_paragraphs, pack_sentences
from weighbeam.network.miner_app import Handler
from weighbeam.senses.ports.protocols import Senses

WAITS = {"slow": 0.68, "silent": 2.0, "copycat": 0.1}
Spoil = Callable[[list[str], dict[str, Any]], Any]


def find_miner(name: str, senses: Senses) -> Handler | None:
    """`hostile:TRICK`, or a chunker by name."""
    kind, _, rest = name.partition(":")
    if kind == "hostile" and rest in TRICKS:
        return hostile_miner(rest, senses)
    return None if rest else honest_miner(name, senses)


def honest_miner(chunker: str, senses: Senses) -> Handler:
    """A miner that cuts with a chunker of the catalogue."""
    cut = find_chunker(chunker).cut

    async def answer(task: dict[str, Any], seconds: float) -> Any:
        chunks = await asyncio.to_thread(cut, task["document"], task["chunk_size"], task["chunk_qty"], senses)
        return {"chunks": chunks}

    return answer


def hostile_miner(trick: str, senses: Senses) -> Handler:
    """A miner that cuts properly and then spoils it."""
    spoil = TRICKS[trick]

    async def answer(task: dict[str, Any], seconds: float) -> Any:
        chunks = pack_paragraphs(task["document"], task["chunk_size"], task["chunk_qty"], senses)
        if trick in WAITS:
            await asyncio.sleep(seconds * WAITS[trick])
        if trick == "slow":
            chunks = pack_sentences(task["document"], task["chunk_size"], task["chunk_qty"], senses)
        if trick == "splitter":
            chunks = pack_sentences(task["document"], max(1, task["chunk_size"] // 8), task["chunk_qty"], senses)
        return spoil(chunks, task)

    return answer


def _drop_word(chunks: list[str], task: dict[str, Any]) -> Any:
    words = chunks[0].split()
    return {"chunks": [" ".join(words[:3] + words[4:]), *chunks[1:]]}


def _keep(chunks: list[str], task: dict[str, Any]) -> Any:
    return {"chunks": chunks}


TRICKS: dict[str, Spoil] = {
    "dropper": _drop_word,
    "inventor": lambda chunks, _: {"chunks": [chunks[0] + " Buy now.", *chunks[1:]]},
    "oversized": lambda _, task: {"chunks": [task["document"]]},
    "splitter": _keep,
    "shuffler": lambda chunks, _: {"chunks": chunks[::-1]},
    "slow": _keep,
    "silent": _keep,
    "garbage": lambda _, __: [[["not", {"chunks": 7}]]],
    "copycat": _keep,
    "replayer": _keep,
    "noise": _keep,
    "liar": lambda _, __: {"chunks": ["\x00\x1b[2J", None]},
}
