"""True quotes without their denial, or with one."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.worlds.evidence_season import Plays, by_finders

ATTACKS = (
    Attack(
        family="meaning-flip",
        mechanism="evidence",
        what="A miner takes true quotes, drops or adds a small word such as 'not', and adds a sentence that stands "
        "where no reader sees it.",
        against="Denials, quantities and numbers must match exactly. A quote that is on the page but for such a word "
        "is a forgery and costs five points.",
        open="A flip by other words, an adjective for its opposite, is merely not found on the page: that costs a "
        "point.",
        run=by_finders(lambda: Plays("forger")),
    ),
)
