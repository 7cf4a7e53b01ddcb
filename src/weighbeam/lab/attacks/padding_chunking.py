"""Fill an answer with chunks that say the same again."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.twin import beside_work, work
from weighbeam.lab.world import Always, Said, Turn, World

BLANKS = 3
"""How many times as long as the document an answer may well be."""


def repeat_chunks(world: World, turn: Turn) -> Said:
    """Honest chunks, the longest once more each until no more are allowed, all blown up with blanks."""
    said = work(world, turn)
    chunks: list[str] = said.payload["chunks"]
    room = turn.task.body["chunk_qty"] - len(chunks)
    twice = sorted(range(len(chunks)), key=lambda place: -len(chunks[place]))[:room]
    given = [one for place, chunk in enumerate(chunks) for one in [chunk] * (1 + (place in twice))]
    blanks = BLANKS * len(turn.task.body["document"]) // len(given)
    return Said({"chunks": [chunk.ljust(min(turn.task.body["chunk_size"], blanks)) for chunk in given]}, said.seconds)


ATTACKS = (
    Attack(
        "padding",
        "chunking",
        "",
        "",
        "",
        beside_work("chunking", lambda: Always(repeat_chunks), 1),
    ),
)
