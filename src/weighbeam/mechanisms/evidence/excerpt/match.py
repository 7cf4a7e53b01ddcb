"""Is the excerpt on the page, where, and if not, was it hidden or altered (spec § 7)."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from weighbeam.mechanisms.evidence.excerpt.align import Alignment, align
from weighbeam.mechanisms.evidence.excerpt.forms import Kind, classify_form, parse_forms
from weighbeam.mechanisms.evidence.excerpt.page_tokens import Tokens
from weighbeam.mechanisms.evidence.excerpt.text import find_ends

Altered = Literal["meaning", "number"]

FORMS_PER_TYPO = 8
MIN_ALTERED = 5
MAX_CONTEXT = 200
MEANING: tuple[Kind, ...] = ("negation", "quantifier")
NUMBERS: tuple[Kind, ...] = ("number",)


@dataclass(frozen=True, slots=True)
class Match:
    """Where an excerpt is, or what was found instead."""

    found: bool
    typos: int | None = None
    span: tuple[int, int] | None = None
    text: str | None = None
    context: str | None = None
    user_content: bool = False
    hidden: bool = False
    altered: Altered | None = None

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "span": None if self.span is None else list(self.span)}


def match_excerpt(
    excerpt: str, page: Tokens, full: Tokens | None = None, user_spans: Sequence[tuple[int, int]] = ()
) -> Match:
    """Look for an excerpt on a page that was tokenised before; `full` is the document with its hidden parts.

    >>> from weighbeam.mechanisms.evidence.excerpt.page_tokens import tokenise
    >>> match_excerpt("jumps over it", tokenise("So. The fox jumps over it. End.")).context
    'The fox jumps over it.'
    """
    forms = parse_forms(excerpt)
    found = _search(page, forms)
    if found is None:
        hidden = full is not None and _search(full, forms) is not None
        return Match(found=False, hidden=hidden, altered=find_alteration(page, forms))
    start, end = int(page.starts[found.first]), int(page.ends[found.last])
    return Match(
        found=True,
        typos=found.typos,
        span=(start, end),
        text=page.text[start:end],
        context=take_context(page.text, start, end),
        user_content=any(start < behind and first < end for first, behind in user_spans),
    )


def find_alteration(page: Tokens, forms: Sequence[str]) -> Altered | None:
    """Find how an excerpt differs from the page, if only by negations and quantifiers, or by numbers."""
    if _agrees_without(page, forms, MEANING):
        return "meaning"
    return "number" if _agrees_without(page, forms, NUMBERS) else None


def take_context(clean: str, start: int, end: int) -> str:
    """The sentences around a span, at most 200 characters each side.

    >>> take_context("One. Two three. Four.", 5, 8)
    'Two three.'
    """
    before, after = max(0, start - MAX_CONTEXT), min(len(clean), end + MAX_CONTEXT)
    ends_before = find_ends(clean, before, start)
    ends_after = find_ends(clean, end, after)
    return clean[ends_before[-1] if ends_before else before : ends_after[0] if ends_after else after].strip()


def _search(page: Tokens, forms: Sequence[str]) -> Alignment | None:
    return align(page, forms, len(forms) // FORMS_PER_TYPO)


def _agrees_without(page: Tokens, forms: Sequence[str], kinds: Collection[Kind]) -> bool:
    left = [form for form in forms if classify_form(form) not in kinds]
    return len(left) >= MIN_ALTERED and align(page.drop_kinds(kinds), left, 0) is not None
