"""Cut without reading, and answer at once."""

from weighbeam.lab.attack import Attack, by_miners
from weighbeam.lab.cheap_cuts import cut_blindly
from weighbeam.lab.world import Always

ATTACKS = (
    Attack(
        "instant-garbage",
        "chunking",
        "",
        "",
        "",
        by_miners("chunking", lambda: Always(cut_blindly), 1),
    ),
)
