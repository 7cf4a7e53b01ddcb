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
        family="padding",
        mechanism="chunking",
        what="A good miner sends its longest chunks twice, as many as are allowed, and fills all of them up with "
        "blanks.",
        against="White space is squeezed before anything is embedded, and a chunk sent twice is a chunk most similar "
        "to another one: that counts against the answer. Far too large answers fail.",
        open="Words may be doubled unless `strict` is set; here it cost nearly everything that honest work would have "
        "earned.",
        run=beside_work("chunking", lambda: Always(repeat_chunks), 1),
    ),
)
