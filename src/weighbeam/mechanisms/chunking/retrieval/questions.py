"""Questions about a document with the exact passages that answer them, and true borders: parsed and checked.

{"questions": [{"q": "How deep is it?", "spans": [[120, 164]]}, {"q": "…", "quote": "words of the document"}],
 "borders": [210, 480]}
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.numbers import is_integer
from weighbeam.core.text import has_lone_surrogate
from weighbeam.mechanisms.chunking.retrieval.measure import Span

MAX_QUESTIONS = 1000
MAX_QUESTION = 2000
MAX_SPANS = 64
MAX_BORDERS = 100_000
MAX_K = 1000
DEFAULT_K = (1, 3, 5)
DEFAULT_TOKENS = 400
SHAPE = '{"questions": [{"q": "…", "spans": [[120, 164]]}]}'
KEYS = ("questions", "borders", "k", "token_budget")
"""Of a question of `weighbeam score`, those that ask for a check of retrieval or borders."""


@dataclass(frozen=True, slots=True)
class SpanQuestion:
    """A question, and where the document answers it, in characters."""

    text: str
    spans: tuple[Span, ...]

    def as_json(self) -> dict[str, Any]:
        return {"q": self.text, "spans": [list(span) for span in self.spans]}


def parse_questions(rows: Any, document: str) -> tuple[SpanQuestion, ...]:
    """The questions of a file or a task; whatever is wrong with one is said with its number."""
    if not isinstance(rows, list) or not rows:
        _refuse("questions is not a list with a question")
    if len(rows) > MAX_QUESTIONS:
        _refuse(f"there are {len(rows):,} questions", f"give at most {MAX_QUESTIONS:,}")
    return tuple(_parse_question(row, f"question {number}", document) for number, row in enumerate(rows))


def _parse_question(row: Any, name: str, document: str) -> SpanQuestion:
    if not isinstance(row, Mapping):
        _refuse(f"{name} is not an object")
    text = row.get("q")
    if not isinstance(text, str) or not text.strip() or has_lone_surrogate(text):
        _refuse(f"{name} has no text under q")
    if len(text) > MAX_QUESTION:
        _refuse(f"{name} has {len(text):,} characters", f"ask in at most {MAX_QUESTION:,}")
    if ("spans" in row) == ("quote" in row):
        _refuse(f"{name} needs either spans or a quote")
    if "quote" in row:
        return SpanQuestion(text, (_find_quote(row["quote"], name, document),))
    spans = row["spans"]
    if not isinstance(spans, list) or not 1 <= len(spans) <= MAX_SPANS:
        _refuse(f"the spans of {name} are not a list of 1 to {MAX_SPANS}")
    return SpanQuestion(text, tuple(_parse_span(span, name, len(document)) for span in spans))


def _parse_span(span: Any, name: str, length: int) -> Span:
    is_pair = isinstance(span, list) and len(span) == 2 and all(is_integer(end, 0) for end in span)
    if not is_pair or not span[0] < span[1] <= length:
        remedy = f"give [from, to] in characters with from < to, at most {length:,}"
        _refuse(f"{name} has the span {span!r:.60} of a document with {length:,} characters", remedy)
    return (span[0], span[1])


def _find_quote(quote: Any, name: str, document: str) -> Span:
    if not isinstance(quote, str) or not quote.strip():
        _refuse(f"the quote of {name} is not a text")
    at = document.find(quote)
    if at < 0:
        _refuse(f"the quote of {name} is not in the document", "copy it from there to the letter")
    if document.find(quote, at + 1) >= 0:
        _refuse(f"the quote of {name} is in the document more than once", "quote more of it, or give spans")
    return (at, at + len(quote))


def parse_borders(given: Any, length: int) -> tuple[int, ...]:
    """Offsets at which the subject changes, ascending, inside the document."""
    if not isinstance(given, list) or len(given) > MAX_BORDERS:
        _refuse("borders is not a list of offsets", f"give at most {MAX_BORDERS:,} integers")
    for at in given:
        if not is_integer(at, 1) or at >= length:
            _refuse(f"there is a border at {at!r:.40}", f"give integers from 1 to {length - 1:,}")
    return tuple(sorted(set(given)))


def parse_depths(body: Mapping[str, Any]) -> tuple[list[int], int]:
    """The numbers of chunks and of tokens to measure retrieval at."""
    depths, tokens = body.get("k"), body.get("token_budget")
    depths = list(DEFAULT_K) if depths is None else depths
    tokens = DEFAULT_TOKENS if tokens is None else tokens
    fits = isinstance(depths, list) and 1 <= len(depths) <= 10 and all(is_integer(k, 1) and k <= MAX_K for k in depths)
    if not fits:
        _refuse(f"k is {depths!r:.60}", f"give one to ten integers from 1 to {MAX_K:,}")
    if not is_integer(tokens, 1):
        _refuse(f"token_budget is {tokens!r:.60}", "give an integer of 1 or more")
    return sorted(set(depths)), tokens


def _refuse(message: str, remedy: str = f"write {SHAPE}") -> NoReturn:
    raise WeighbeamError("bad_questions", message, remedy)
