"""Cuts that cost nothing: as many words as fit, whatever they are about, within a hundredth of a second."""

from weighbeam.lab.world import Said, Turn, World
from weighbeam.mechanisms.chunking.words import split_words
from weighbeam.miners.chunkers.packing import cut_at, pack

SECONDS = 0.01


def cut_blindly(_: World, turn: Turn) -> Said:
    document: str = turn.task.body["document"]
    return Said(
        {
            "chunks": cut_at(
                document, pack([0, *split_words(document).starts[1:]], document, turn.task.body["chunk_size"])
            )
        },
        SECONDS,
    )
