"""The quotes of a better miner, from the same pages under other addresses."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.listen import repeat_best
from weighbeam.lab.world import Always, Said, Turn, World
from weighbeam.lab.worlds.evidence import EDITIONS
from weighbeam.lab.worlds.evidence_season import by_finders
from weighbeam.lab.worlds.saved_web import EDITION


def readdress_best(world: World, turn: Turn) -> Said:
    """What the best said, with a number of one's own behind every address."""
    said = repeat_best(world, turn)
    quotes = [{**one, "url": one["url"].partition(EDITION)[0] + f"{EDITION}{EDITIONS}"} for one in read_quotes(said)]
    return Said({"snippets": quotes}, said.seconds)


def read_quotes(said: Said) -> list[dict[str, str]]:
    quotes: list[dict[str, str]] = said.payload["snippets"]
    return quotes


ATTACKS = (
    Attack(
        family="near-duplicate",
        mechanism="evidence",
        what="A miner sends the quotes of the best standing honest miner of its round, and hangs a number of its own "
        "behind every address. Servers ignore it and show the same page.",
        against="Nothing: two quotes are the same only if their pages have the same key, and a query that nobody "
        "knows makes another key.",
        open="It pays, more than twice what its own middling work would, and nothing shows. The text of each page is "
        "on record by its hash: to compare that instead of addresses would close it.",
        run=by_finders(lambda: Always(readdress_best)),
    ),
)
