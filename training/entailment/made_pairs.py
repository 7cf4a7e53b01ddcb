"""All pairs made by rule from the pairs that are trained on."""

import random
from collections.abc import Sequence

from fever_pairs import make_fever_pairs
from limit_pairs import make_limit_pairs
from negation_pairs import make_negation_pairs
from number_pairs import make_number_pairs
from order_pairs import make_order_pairs
from pairs import Pair
from quantity_pairs import make_quantity_pairs

TEMPLATE_PAIRS = 3_000


def make_pairs(pairs: Sequence[Pair], seed: int) -> list[Pair]:
    return [
        *make_fever_pairs(pairs),
        *make_number_pairs(pairs, random.Random(seed)),
        *make_negation_pairs(pairs, random.Random(seed + 1)),
        *make_order_pairs(TEMPLATE_PAIRS, random.Random(seed + 2)),
        *make_quantity_pairs(TEMPLATE_PAIRS, random.Random(seed + 3)),
        *make_limit_pairs(TEMPLATE_PAIRS, random.Random(seed + 4)),
    ]
