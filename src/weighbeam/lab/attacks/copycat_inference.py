"""Say what somebody else said."""

from weighbeam.lab.attack import Attack, by_miners
from weighbeam.lab.listen import repeat_best
from weighbeam.lab.world import Always

ATTACKS = (
    Attack(
        family="copycat",
        mechanism="inference",
        what="Three miners do no work: they ask the honest miner that stands highest among those asked, wait for its "
        "answer, and send it word for word a moment later.",
        against="Copies are found by their words and their meaning. They are one voice in the consensus and share one "
        "pay between them.",
        open="The miner that was copied shares its pay with the copies: nobody can tell who wrote a text first. "
        "Answers must not be readable by others before the round is over.",
        run=by_miners("inference", lambda: Always(repeat_best), 3),
    ),
)
