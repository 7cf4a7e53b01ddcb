"""Pages of one's own that say what statements say."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.world import Always, Said, Turn, World
from weighbeam.lab.worlds.evidence_pool import write_snippet
from weighbeam.lab.worlds.evidence_season import by_finders, enter
from weighbeam.lab.worlds.saved_web import find_farm
from weighbeam.miners.library import open_library

SECONDS = 2.0


def farm(world: World, turn: Turn) -> Said:
    """The sentence that was written for the statement, once from each of five domains."""
    most = enter(world).params.max_snippets
    own = open_library(find_farm()).choose(turn.task.body["statement"], most, 0, 1)
    return Said({"snippets": [write_snippet(passage) for passage in own]}, SECONDS)


ATTACKS = (
    Attack(
        family="domain-farm",
        mechanism="evidence",
        what="WHAT",
        against="AGAINST",
        open="OPEN",
        run=by_finders(lambda: Always(farm)),
    ),
)
