"""The statement itself as its own evidence."""

from weighbeam.lab.attack import Attack
from weighbeam.lab.worlds.evidence_season import AT_ONCE, Plays, by_finders

ATTACKS = (
    Attack(
        family="prompt-echo",
        mechanism="evidence",
        what="A miner sends the statement itself, five times, as if real pages said it.",
        against="An excerpt that repeats the statement, or is too close to it in meaning, costs five points before "
        "any page is read; quick answers lose twice.",
        open="Only a thorough paraphrase passes, and that has to stand on the page.",
        run=by_finders(lambda: Plays("parrot", AT_ONCE)),
    ),
)
