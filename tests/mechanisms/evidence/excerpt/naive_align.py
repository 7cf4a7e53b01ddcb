"""Spec § 7 word by word: from every page token, one walk. Slow, and meant to be read."""

import unicodedata

from weighbeam.mechanisms.evidence.excerpt.forms import classify_form, is_letters
from weighbeam.mechanisms.evidence.excerpt.page_tokens import Tokens

BEHIND = "% ‰ + percent dozen hundred thousand million billion trillion".split()


def align_naively(page: Tokens, forms: list[str], budget: int) -> tuple[int, int, int] | None:
    written = list(zip(page.forms, page.lower.tolist(), strict=True))
    walks = [walk(written, start, forms, budget) for start in range(len(written))] if forms else []
    found = [
        (typos, start, last)
        for start, ended in enumerate(walks)
        if ended
        for typos, last in [ended]
        if not cuts_quantity(page, start) and not cuts_quantity(page, last + 1)
    ]
    return min(found, default=None)


def walk(page: list[tuple[str, bool]], start: int, forms: list[str], budget: int) -> tuple[int, int] | None:
    i, at, typos = 0, start, 0
    while i < len(forms):
        if at >= len(page):
            return None
        if forms[i] == page[at][0]:
            i, at = i + 1, at + 1
        elif i + 1 < len(forms) and joins([forms[i], forms[i + 1]], page[at][0]):
            i, at = i + 2, at + 1
        elif at + 1 < len(page) and joins([page[at][0], page[at + 1][0]], forms[i]):
            i, at = i + 1, at + 2
        elif typos < budget and page[at][1] and is_typo(forms[i], page[at][0]):
            i, at, typos = i + 1, at + 1, typos + 1
        else:
            return None
    return typos, at - 1


def cuts_quantity(page: Tokens, at: int) -> bool:
    """Whether the border before a token lies inside a quantity."""
    if not 0 < at < len(page):
        return False
    before, after = page.forms[at - 1], page.forms[at]
    between = page.text[page.ends[at - 1] : page.starts[at]]
    goes_on = is_amount(before) and (after in BEHIND or is_beside(after))
    goes_on = goes_on or (is_beside(before) and is_amount(after))
    return goes_on and not between.strip(" \t")


def is_beside(form: str) -> bool:
    return form in tuple("<>≤≥≠±") or (len(form) == 1 and unicodedata.category(form) == "Sc")


def is_amount(form: str) -> bool:
    return classify_form(form) == "number" and not is_beside(form) and form not in tuple("%‰=+")


def joins(parts: list[str], whole: str) -> bool:
    return "".join(parts) == whole and all(classify_form(form) == "word" for form in [*parts, whole])


def is_typo(one: str, other: str) -> bool:
    plain = all(classify_form(form) == "word" and is_letters(form) and len(form) >= 4 for form in (one, other))
    return plain and one[0] == other[0] and (other in edit(one, set(other)))


def edit(word: str, letters: set[str]) -> set[str]:
    """All that is one substitution, insertion, deletion or swap of neighbours away."""
    cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    deleted = {a + b[1:] for a, b in cuts if b}
    swapped = {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    replaced = {a + c + b[1:] for a, b in cuts if b for c in letters}
    inserted = {a + c + b for a, b in cuts for c in letters}
    return (deleted | swapped | replaced | inserted) - {word}
