"""Pairs where the same words in another order say something else: who did what to whom.

Sentences are made from short templates. A verb is of one of three kinds: swapping its two sides contradicts the
sentence, leaves it open, or says the same.
"""

import random

from pairs import CONTRADICTION, ENTAILMENT, NEUTRAL, Pair

PEOPLE = tuple(
    "Clara Jensen,Omar Haddad,Lucia Romero,Peter Novak,Aiko Tanaka,Samuel Okoro,Helen Brandt,Ravi Menon,Julia Costa,"
    "Daniel Weiss,the nurse,the pilot,the farmer,the engineer,the actor,the sheriff,the senator,the tailor".split(",")
)
TEAMS = tuple(
    "Norway,Ghana,Chile,Portugal,the Tigers,the Rovers,Leeds,Valencia,the Eagles,Brazil,Hungary,Wales".split(",")
)
FIRMS = tuple(
    "Arcton,Bluefield Foods,Nordisk Rail,Helix Motors,Pinecrest Media,Vantor,Quill & Sons,Delmar Energy".split(",")
)
PLACES = tuple(
    "Spain,Morocco,Kenya,Vietnam,Oslo,Turin,Denver,Lagos,Osaka,the museum,the old mill,the harbour".split(",")
)
EVENTS = tuple(
    "the strike,the flood,the merger,the coronation,the first World Cup,the fire,the treaty,the census".split(",")
)

Names = tuple[str, ...]
Verb = tuple[str, str | None]

OPPOSED: dict[Names, list[Verb]] = {
    TEAMS: [
        ("beat", "was beaten by"),
        ("finished ahead of", None),
        ("scored more goals than", None),
        ("lost to", None),
    ],
    FIRMS: [("acquired", "was acquired by"), ("is larger than", None), ("is a subsidiary of", None)],
    PEOPLE: [
        ("is older than", None),
        ("is the mother of", None),
        ("earns more than", None),
        ("succeeded", "was succeeded by"),
        ("murdered", "was murdered by"),
        ("arrived earlier than", None),
    ],
    PLACES: [("lies north of", None), ("is smaller than", None), ("is older than", None), ("is warmer than", None)],
    EVENTS: [("happened before", None), ("led to", "was caused by"), ("lasted longer than", None)],
}
OPEN: dict[Names, list[Verb]] = {
    PEOPLE: [
        ("praised", "was praised by"),
        ("phoned", "was phoned by"),
        ("insulted", "was insulted by"),
        ("helped", "was helped by"),
        ("paid", "was paid by"),
        ("wrote a letter to", None),
        ("recognised", "was recognised by"),
    ],
    FIRMS: [("took legal action against", None), ("sells parts to", None), ("criticised", "was criticised by")],
    TEAMS: [("has visited", "has been visited by"), ("respects", "is respected by")],
}
MUTUAL: dict[Names, list[Verb]] = {
    PEOPLE: [("is married to", None), ("shook hands with", None), ("is a cousin of", None)],
    FIRMS: [("merged with", None), ("competes with", None)],
    PLACES: [("borders", None), ("is as old as", None), ("is twinned with", None)],
    TEAMS: [("drew with", None), ("played against", None)],
}
ENDINGS = ("", "", "", " last year", " in the spring", " on Friday", ", according to the report")
KINDS = ((OPPOSED, CONTRADICTION, 0.6), (OPEN, NEUTRAL, 0.25), (MUTUAL, ENTAILMENT, 0.15))


def tell(first: str, verb: str, second: str, ending: str) -> str:
    """
    >>> tell("the nurse", "phoned", "Ravi Menon", "")
    'The nurse phoned Ravi Menon.'
    """
    sentence = f"{first} {verb} {second}{ending}."
    return sentence[0].upper() + sentence[1:]


def make_one(chance: random.Random) -> Pair:
    """One sentence against itself turned round, in the passive, or in the passive turned round."""
    kinds, label, _ = chance.choices(KINDS, weights=[kind[2] for kind in KINDS])[0]
    names = chance.choice(list(kinds))
    verb, passive = chance.choice(kinds[names])
    first, second = chance.sample(names, 2)
    ending = chance.choice(ENDINGS) if " is " not in f" {verb} " else ""
    premise = tell(first, verb, second, ending)
    forms = [(tell(second, verb, first, ending), label)] * 2
    forms.append((tell(first, verb, second, ""), ENTAILMENT))
    if passive:
        forms += [(tell(second, passive, first, ending), ENTAILMENT), (tell(first, passive, second, ending), label)]
    hypothesis, meaning = chance.choice(forms)
    return Pair("rule_order", premise, hypothesis, meaning)


def make_order_pairs(count: int, chance: random.Random) -> list[Pair]:
    return list(dict.fromkeys(make_one(chance) for _ in range(count)))
