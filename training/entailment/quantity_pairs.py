"""Pairs that compare quantities: more than, at least, most of, rose or fell, the century of a year."""

import random
from collections.abc import Callable

from pairs import CONTRADICTION, ENTAILMENT, NEUTRAL, Pair

MEASURED = (
    ("The tunnel is about {} metres long", "The tunnel is {} {} metres long"),
    ("The lake holds {} fish", "The lake holds {} {} fish"),
    ("The concert drew {} visitors", "{} {} people attended the concert"),
    ("The study followed {} patients", "The study had {} {} patients"),
    ("The repair cost {} dollars", "The repair cost {} {} dollars"),
    ("The village has {} inhabitants", "{} {} people live in the village"),
    ("The survey covered {} households", "The survey covered {} {} households"),
)
MORE = ("more than", "over", "at least", "no fewer than")
LESS = ("less than", "under", "at most", "fewer than")
MOVING = (
    "Unit sales,The water level,The price of wheat,Infection rates,The number of visitors,Rents,Sea ice extent,"
    "The average temperature,Cancer mortality,Traffic"
).split(",")
UP = ("rose", "increased", "went up", "grew", "climbed")
DOWN = ("fell", "decreased", "went down", "dropped", "declined")
GROUPS = "patients,villages,samples,voters,trials,schools,bridges,species,mice,respondents".split(",")
STATES = "tested positive,were affected,improved,were rejected,survived,took part".split(",")
FOUNDED = (
    "The abbey was founded in {}",
    "The canal opened in {}",
    "The composer was born in {}",
    "The law dates from {}",
)
ORDINALS = {16: "sixteenth", 17: "seventeenth", 18: "eighteenth", 19: "nineteenth", 20: "twentieth"}


def capitalise(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def compare_amounts(chance: random.Random) -> Pair:
    """A stated amount against a bound that it meets, misses, or that concerns another thing."""
    stated, bound = chance.choice(MEASURED)
    value = chance.choice((30, 48, 120, 260, 900, 1_400, 7_500, 23_000, 180_000)) + chance.randint(0, 9)
    other = max(2, round(value * chance.choice((0.2, 0.4, 0.6, 0.8, 1.3, 1.8, 3, 5))))
    upward = chance.random() < 0.5
    label = ENTAILMENT if (value > other) == upward else CONTRADICTION
    if chance.random() < 0.15:
        bound, label = chance.choice([pair[1] for pair in MEASURED if pair[1] != bound]), NEUTRAL
    hypothesis = bound.format(chance.choice(MORE if upward else LESS), f"{other:,}")
    return Pair("rule_quantity", capitalise(stated.format(f"{value:,}")), capitalise(hypothesis), label)


def compare_directions(chance: random.Random) -> Pair:
    """A movement against the same, the opposite, or that of something else."""
    thing, other = chance.sample(MOVING, 2)
    upward = chance.random() < 0.5
    when = chance.choice(("in June", "last year", "between 2010 and 2020", "during the study"))
    share = chance.choice(
        ("", f" by {chance.randint(2, 60)} percent", f" to {chance.randint(2, 90)}.{chance.randint(0, 9)}")
    )
    premise = f"{thing} {chance.choice(UP if upward else DOWN)}{share} {when}"
    form = chance.choice(("same", "opposite", "opposite", "other"))
    verb = chance.choice(UP if upward != (form == "opposite") else DOWN)
    label = {"same": ENTAILMENT, "opposite": CONTRADICTION, "other": NEUTRAL}[form]
    hypothesis = f"{other if form == 'other' else thing} {verb} {when}"
    return Pair("rule_quantity", capitalise(premise), capitalise(hypothesis), label)


def compare_shares(chance: random.Random) -> Pair:
    """So many of so many against most, few, all, none."""
    group, state = chance.choice(GROUPS), chance.choice(STATES)
    whole = chance.choice((10, 20, 40, 50, 80, 200, 1_000))
    share = chance.choice((0.1, 0.2, 0.3, 0.7, 0.8, 0.9))
    premise = f"{round(whole * share)} of the {whole} {group} {state}"
    claims = {
        f"most of the {group} {state}": share > 0.5,
        f"a majority of the {group} {state}": share > 0.5,
        f"only a minority of the {group} {state}": share < 0.5,
        f"all of the {group} {state}": False,
        f"none of the {group} {state}": False,
        f"some of the {group} {state}": True,
    }
    hypothesis, holds = chance.choice(list(claims.items()))
    return Pair("rule_quantity", capitalise(premise), capitalise(hypothesis), ENTAILMENT if holds else CONTRADICTION)


def compare_years(chance: random.Random) -> Pair:
    """A year against its century, or against before and after another year."""
    century = chance.choice(list(ORDINALS))
    year = (century - 1) * 100 + chance.randint(1, 99)
    form = chance.choice(FOUNDED)
    premise = capitalise(form.format(year))
    if chance.random() < 0.4:
        told = chance.choice((century, century, *ORDINALS))
        hypothesis = capitalise(
            form.replace(" in {}", " {}").replace(" from {}", " {}").format(f"in the {ORDINALS[told]} century")
        )
        return Pair("rule_quantity", premise, hypothesis, ENTAILMENT if told == century else CONTRADICTION)
    other = year + chance.choice((-90, -40, -12, -3, 3, 12, 40, 90))
    word = chance.choice(("before", "after"))
    hypothesis = capitalise(form.replace(" in {}", " {}").replace(" from {}", " {}").format(f"{word} {other}"))
    holds = (year < other) == (word == "before")
    return Pair("rule_quantity", premise, hypothesis, ENTAILMENT if holds else CONTRADICTION)


MAKERS: tuple[Callable[[random.Random], Pair], ...] = (
    compare_amounts,
    compare_amounts,
    compare_directions,
    compare_shares,
    compare_years,
)


def make_quantity_pairs(count: int, chance: random.Random) -> list[Pair]:
    return list(dict.fromkeys(chance.choice(MAKERS)(chance) for _ in range(count)))
