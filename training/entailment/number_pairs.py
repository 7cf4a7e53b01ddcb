"""Pairs made by rule from training pairs, because no source has many where only a number differs."""

import itertools
import random
import re
from collections.abc import Iterable

from pairs import Pair

WORDS = "two three four five six seven eight nine ten twelve twenty thirty forty fifty".split()
NUMBER = re.compile(r"\b(?:\d{1,3}(?:,\d{3})+|\d+|" + "|".join(WORDS) + r")\b", re.IGNORECASE)
SINGLE = 1_200


def other_number(text: str, taken: set[str], chance: random.Random) -> str:
    """A number of the same kind and size as `text` that is not `taken`, farther off where all near ones are."""
    for tries in itertools.count():
        if text.lower() in WORDS:
            word = chance.choice(WORDS)
            new = word.capitalize() if text[0].isupper() else word
        else:
            value = int(text.replace(",", ""))
            near = value + chance.choice((-1, 1)) * chance.randint(1, max(2, min(value // 4, 60)) + tries // 8)
            new = f"{abs(near):,}" if "," in text else str(abs(near))
        if new.lower() not in taken:
            break
    return new


def change_number(pair: Pair, chance: random.Random) -> Pair | None:
    """An entailed pair whose hypothesis repeats a number of the premise, with that number changed: contradicted."""
    taken = {found.group().lower() for found in NUMBER.finditer(pair.premise)}
    shared = [found for found in NUMBER.finditer(pair.hypothesis) if found.group().lower() in taken]
    if not shared:
        return None
    found = chance.choice(shared)
    new = other_number(found.group(), taken, chance)
    hypothesis = pair.hypothesis[: found.start()] + new + pair.hypothesis[found.end() :]
    return Pair("rule_numbers", pair.premise, hypothesis, 0)


def make_number_pairs(pairs: Iterable[Pair], chance: random.Random) -> list[Pair]:
    """Contradictions by a changed number, and a third as many repetitions (entailed) of sentences with numbers."""
    made: list[Pair] = []
    repeated: list[Pair] = []
    seen: set[str] = set()
    for pair in pairs:
        if pair.label == 2 and (changed := change_number(pair, chance)):
            made.append(changed)
        if pair.source in ("conjnli", "mnli") and pair.premise not in seen and NUMBER.search(pair.premise):
            seen.add(pair.premise)
            repeated.append(Pair("rule_numbers", pair.premise, pair.premise, 2))
    chosen = chance.sample(repeated, min(SINGLE * 2, len(repeated)))
    altered = [changed for pair in chosen[:SINGLE] if (changed := change_number(pair, chance))]
    return chance.sample(made, min(SINGLE * 2, len(made))) + altered + chosen[SINGLE:]
