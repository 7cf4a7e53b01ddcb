"""The best quotes of several others, of each too few to be its copy."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.listen import MOMENT
from weighbeam.lab.world import Always, Said, Turn, World
from weighbeam.lab.worlds.evidence_pool import Find, choose_best
from weighbeam.lab.worlds.evidence_season import by_finders, enter
from weighbeam.lab.worlds.saved_web import EDITION

EACH = 2
"""Of five quotes two may be another's: half of them would make a copy."""


def patch(world: World, turn: Turn) -> Said:
    """The best five of two quotes of each honest answer."""
    if not turn.heard:
        return world.answer(turn)
    known = {(one.passage.url, one.passage.text): one for one in enter(world).find(turn.task)}
    taken: dict[Find, dict[str, str]] = {}
    for _, said in sorted(turn.heard.items()):
        quotes = {known[one["url"].partition(EDITION)[0], one["excerpt"]]: one for one in said.payload["snippets"]}
        new = sorted((find for find in quotes if find.local and find not in taken), key=lambda find: -find.worth)
        taken |= {find: quotes[find] for find in new[:EACH]}
    best = choose_best(list(taken), [find.worth for find in taken], enter(world).params.max_snippets)
    seconds = max(said.seconds for said in turn.heard.values()) + MOMENT
    return Said({"snippets": [taken[find] for find in best]}, seconds)


ATTACKS = (
    Attack(
        family="patchwork",
        mechanism="evidence",
        what="WHAT",
        against="AGAINST",
        open="OPEN",
        run=by_finders(lambda: Always(patch)),
    ),
)
