"""Near-duplicate: the quotes of a better miner, from the same pages under other addresses."""

from dataclasses import dataclass

from weighbeam.lab.attack import Attack
from weighbeam.lab.world import Said, Turn, World
from weighbeam.lab.worlds.evidence import EDITIONS, EvidenceWorld
from weighbeam.lab.worlds.evidence_season import by_finders, find_first
from weighbeam.lab.worlds.saved_web import EDITION

LATER = 1.0


@dataclass(frozen=True, slots=True)
class Readdresses:
    """Says what the best of those it overhears has said, and hangs a number of its own to every address."""

    world: EvidenceWorld

    def answer(self, world: World, turn: Turn) -> Said:
        if not turn.heard:
            return self.world.answer(turn)
        _, said = find_first(turn)
        own = [{**one, "url": _readdress(one["url"])} for one in said.payload["snippets"]]
        return Said({"snippets": own}, said.seconds + LATER)


def _readdress(url: str) -> str:
    return f"{url.partition(EDITION)[0]}{EDITION}{EDITIONS}"


ATTACKS = (
    Attack(
        family="near-duplicate",
        mechanism="evidence",
        what="",
        against="",
        open="",
        run=by_finders(Readdresses),
    ),
)
