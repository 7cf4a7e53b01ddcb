"""Cut without reading, and answer at once."""

from weighbeam.lab.attack import Attack, by_miners
from weighbeam.lab.cheap_cuts import cut_blindly
from weighbeam.lab.world import Always

ATTACKS = (
    Attack(
        family="instant-garbage",
        mechanism="chunking",
        what="One miner cuts as many words as fit into a chunk, whatever they are about, and answers at once.",
        against="Speed earns nothing below the soft limit, and chunks that mix topics end up behind everybody who has "
        "read the document.",
        open="Where all honest answers are worse than none, the blind cut would win; with the documents of the lab "
        "that does not happen.",
        run=by_miners("chunking", lambda: Always(cut_blindly), 1),
    ),
)
