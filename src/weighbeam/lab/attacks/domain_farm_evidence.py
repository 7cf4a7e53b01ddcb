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
        what="A miner owns five domains that are years old, with a page that says what statements say in other words, "
        "and quotes it once from each.",
        against="A domain must be older than 30 days; further quotes of the same domain count half, a quarter and so "
        "on; only approved domains count three times.",
        open="It pays as well as the best honest work does, and nothing shows. One page on five old domains is all it "
        "takes; a single quote from one domain earned nothing. The probe for pages made after the task, and the "
        "blacklist, are all there is against it.",
        run=by_finders(lambda: Always(farm)),
    ),
)
