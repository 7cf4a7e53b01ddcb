"""Pairs about the greatest and the most there can be, where a denial often says the same in other words.

People write few denials that are entailed, so a model learns to take "no", "never" and "fewer" for a contradiction.
Half of the denials made here are entailed.
"""

import random
from collections.abc import Callable

from pairs import CONTRADICTION, ENTAILMENT, NEUTRAL, Pair
from quantity_pairs import capitalise

RANKED = (
    ("tall", "taller", "tallest", "tower", "in the city", ("Marle Point", "the Harrow Building", "Sable House")),
    ("old", "older", "oldest", "church", "on the island", ("Saint Brand's", "the Lantern Church", "All Winds")),
    ("long", "longer", "longest", "river", "in the province", ("the Torr", "the Ansel", "the Widow's Run")),
    ("fast", "faster", "fastest", "train", "on the network", ("the Meridian", "the Coast Arrow", "the Night Mail")),
    ("heavy", "heavier", "heaviest", "bell", "in the country", ("Old Edgar", "the Plough Bell", "Great Anna")),
    ("cheap", "cheaper", "cheapest", "ferry", "across the strait", ("the Gull Line", "Blue Crossing", "the Swan")),
    ("bright", "brighter", "brightest", "lamp", "of the series", ("model A4", "the Dawn", "model K9")),
    ("cold", "colder", "coldest", "town", "of the region", ("Varnholm", "Upper Skeld", "Kestrel Bay")),
)
LASTING = (
    ("the performance", "lasts", "minutes", (20, 45, 70, 90, 150)),
    ("a charge of the battery", "lasts", "hours", (3, 6, 9, 14, 30)),
    ("the crossing", "takes", "hours", (2, 4, 7, 11, 20)),
    ("a nest of this bird", "holds", "eggs", (2, 4, 6, 9, 12)),
    ("a seat in the gallery", "costs", "crowns", (8, 15, 40, 75, 120)),
    ("the lift", "carries", "persons", (4, 6, 8, 12, 20)),
)
BUYING = ("a month's wage", "the same ticket", "one licence", "a full tank", "the old subsidy", "an hour of work")
SPANS = ("than it did ten years ago", "than before the reform", "than in the previous season", "than it used to")


def compare_ranks(chance: random.Random) -> Pair:
    """The first of its kind against what that means for all others."""
    _, more, most, kind, where, names = chance.choice(RANKED)
    best, other, third = chance.sample(names, 3)
    premises = (
        f"{best} is the {most} {kind} {where}",
        f"with good reason {best} is called the {most} {kind} {where}",
        f"{best} is {more} than any other {kind} {where}",
        f"of every {kind} {where}, {best} is the {most}",
    )
    claims = {
        f"no {kind} {where} is {more} than {best}": ENTAILMENT,
        f"there is no {more} {kind} {where} than {best}": ENTAILMENT,
        f"{other} is not the {most} {kind} {where}": ENTAILMENT,
        f"nothing {where} of its kind is {more} than {best}": ENTAILMENT,
        f"some {kind} {where} is {more} than {best}": CONTRADICTION,
        f"there is a {more} {kind} {where} than {best}": CONTRADICTION,
        f"{best} is not the {most} {kind} {where}": CONTRADICTION,
        f"{other} is the {most} {kind} {where}": CONTRADICTION,
        f"no {kind} {where} is {more} than {other}": CONTRADICTION,
        f"{other} is {more} than {third}": NEUTRAL,
        f"{other} is not {more} than {third}": NEUTRAL,
    }
    hypothesis, label = chance.choice(list(claims.items()))
    return Pair("rule_limit", capitalise(chance.choice(premises)), capitalise(hypothesis), label)


def compare_limits(chance: random.Random) -> Pair:
    """The most something can be against a bound on it, said as a denial or plainly."""
    thing, verb, unit, amounts = chance.choice(LASTING)
    most, other = chance.sample(amounts, 2)
    base = {"lasts": "last", "takes": "take", "holds": "hold", "costs": "cost", "carries": "carry"}[verb]
    premises = (
        f"{thing} {verb} at most {most} {unit}",
        f"{thing} never {verb} more than {most} {unit}",
        f"{thing} cannot {base} more than {most} {unit}, and usually it is less",
        f"even under the best conditions {thing} {verb} no more than {most} {unit}",
    )
    within, beyond = (ENTAILMENT, CONTRADICTION) if other > most else (NEUTRAL, NEUTRAL)
    claims = {
        f"{thing} never {verb} more than {other} {unit}": within,
        f"no one has known {thing} to {base} over {other} {unit}": within,
        f"{thing} does not {base} more than {other} {unit}": within,
        f"it happens that {thing} {verb} more than {max(most, other)} {unit}": CONTRADICTION,
        f"{thing} always {verb} more than {other} {unit}": beyond,
    }
    hypothesis, label = chance.choice([one for one in claims.items() if one[1] != NEUTRAL or chance.random() < 0.4])
    return Pair("rule_limit", capitalise(chance.choice(premises)), capitalise(hypothesis), label)


def compare_worth(chance: random.Random) -> Pair:
    """Buys less, costs more: two ways round of saying one thing."""
    thing, when = chance.choice(BUYING), chance.choice(SPANS)
    falls = chance.random() < 0.5
    less, more = f"{thing} buys less {when}", f"{thing} buys more {when}"
    premise = less if falls else more
    same = (
        f"one gets {'fewer' if falls else 'more'} things for {thing} {when}",
        f"{thing} does not buy as {'much' if falls else 'little'} as {when.removeprefix('than ')}",
    )
    opposite = (
        f"one gets {'more' if falls else 'fewer'} things for {thing} {when}",
        f"{thing} buys no {'less' if falls else 'more'} {when}",
    )
    entailed = chance.random() < 0.5
    hypothesis = chance.choice(same if entailed else opposite)
    return Pair("rule_limit", capitalise(premise), capitalise(hypothesis), ENTAILMENT if entailed else CONTRADICTION)


MAKERS: tuple[Callable[[random.Random], Pair], ...] = (compare_ranks, compare_ranks, compare_limits, compare_worth)


def make_limit_pairs(count: int, chance: random.Random) -> list[Pair]:
    return list(dict.fromkeys(chance.choice(MAKERS)(chance) for _ in range(count)))
