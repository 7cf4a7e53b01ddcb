"""The best quotes of several others, of each too few to be its copy."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.listen import MOMENT
from weighbeam.lab.world import Always, Said, Turn, World
from weighbeam.lab.worlds.evidence_pool import rank_best
from weighbeam.lab.worlds.evidence_season import by_finders, enter
from weighbeam.lab.worlds.saved_web import EDITION

EACH = 2
"""Of five quotes two may be another's: half of them would make a copy."""


def patch(world: World, turn: Turn) -> Said:
    """The best of what all honest miners sent, as far as nobody's share gets too large."""
    if not turn.heard:
        return world.answer(turn)
    here, answers = enter(world), [said.payload["snippets"] for _, said in sorted(turn.heard.items())]
    known = {(one.passage.url, one.passage.text): one for one in here.find(turn.task)}
    quotes = list({tuple(quote.values()): quote for answer in answers for quote in answer}.values())
    finds = [known[quote["url"].partition(EDITION)[0], quote["excerpt"]] for quote in quotes]
    taken: list[dict[str, str]] = []
    for place in rank_best(finds, [find.worth for find in finds]):
        mine = [*taken, quotes[place]]
        if finds[place].local and all(sum(quote in answer for quote in mine) <= EACH for answer in answers):
            taken = mine
    seconds = max(said.seconds for said in turn.heard.values()) + MOMENT
    return Said({"snippets": taken[: here.params.max_snippets]}, seconds)


ATTACKS = (
    Attack(
        family="patchwork",
        mechanism="evidence",
        what="A miner hears all honest answers of its round and sends the five best quotes of them, of each answer no "
        "more than two.",
        against="Two of five are less than half, so it is no copy of anybody. That it has to wait for the slowest "
        "costs it speed.",
        open="It earns about what an average miner does, without any work, and nothing shows. Answers must not be "
        "readable by others before the round is over.",
        run=by_finders(lambda: Always(patch)),
    ),
)
