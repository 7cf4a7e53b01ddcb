"""Mosaic: the best quotes of several others, of each too few to be its copy."""

from dataclasses import dataclass
from typing import Any

from weighbeam.lab.attack import Attack
from weighbeam.lab.world import Said, Turn, World
from weighbeam.lab.worlds.evidence import EvidenceWorld
from weighbeam.lab.worlds.evidence_pool import Find, choose_best
from weighbeam.lab.worlds.evidence_season import by_finders
from weighbeam.lab.worlds.saved_web import EDITION

LATER = 1.0
EACH = 2
"""Of five quotes two may be another's: half of them would make a copy."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Takes two quotes from each of those it overhears and sends the best five."""

    world: EvidenceWorld

    def answer(self, world: World, turn: Turn) -> Said:
        if not turn.heard:
            return self.world.answer(turn)
        taken = {one: quote for said in turn.heard.values() for one, quote in self._take(turn, said)}
        finds = list(taken)
        best = choose_best(finds, [one.multiplier * one.local for one in finds], self.world.params.max_snippets)
        return Said({"snippets": [taken[one] for one in best]}, max(one.seconds for one in turn.heard.values()) + LATER)

    def _take(self, turn: Turn, said: Said) -> list[tuple[Find, dict[str, Any]]]:
        """The two best of an answer, by a judgement of one's own."""
        known = {(one.passage.url, one.passage.text): one for one in self.world.find(turn.task)}
        quotes = [
            (known[quote["url"].partition(EDITION)[0], quote["excerpt"]], quote) for quote in said.payload["snippets"]
        ]
        return sorted(quotes, key=lambda one: -one[0].multiplier * one[0].local)[:EACH]


ATTACKS = (
    Attack(
        family="mosaic",
        mechanism="evidence",
        what="",
        against="",
        open="",
        run=by_finders(Pieces),
    ),
)
