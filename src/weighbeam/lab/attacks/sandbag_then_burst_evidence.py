"""Good work until the memory is long, then none."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.honest import answer_as
from weighbeam.lab.world import Always, Said, Turn, World
from weighbeam.lab.worlds.evidence_season import AT_ONCE, by_finders, play_trick

WORKS = 20
LONGER = 3


def rest_later(world: World, turn: Turn) -> Said:
    """The best there is while the average learns fast, then anything at all, at once."""
    return answer_as(world, turn, skill=1.0) if turn.turn < WORKS else play_trick("unrelated", turn, AT_ONCE)


ATTACKS = (
    Attack(
        family="sandbag-then-burst",
        mechanism="evidence",
        what="WHAT",
        against="AGAINST",
        open="OPEN",
        run=by_finders(lambda: Always(rest_later), longer=LONGER, params={"immunity_responses": WORKS}),
    ),
)
