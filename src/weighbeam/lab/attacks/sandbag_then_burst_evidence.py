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
        what="A miner works like the best until its average has the longer memory, then sends anything at all, at "
        "once. Here the fast phase is cut from 100 responses to 20, so that a season shows both.",
        against="Even the longer memory is short: an answer worth nothing takes 30 % off the average, and two or "
        "three of them cost the rank.",
        open="It comes out above an average miner, since for half of the season it is the best of all; going on would "
        "bring more than twice as much, so that resting adds next to nothing. Whoever rests for one answer loses "
        "little, and nothing shows it.",
        run=by_finders(lambda: Always(rest_later), longer=LONGER, params={"immunity_responses": WORKS}),
    ),
)
