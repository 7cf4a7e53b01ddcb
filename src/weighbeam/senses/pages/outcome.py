"""What an answer's status and type mean (spec/evidence § 13)."""

from weighbeam.senses.page import Outcome

GONE = (404, 410)


def media_type(content_type: str) -> str:
    """The type without its parameters.

    >>> media_type("Text/HTML; charset=utf-8")
    'text/html'
    """
    return content_type.partition(";")[0].strip().lower()


def judge_answer(status: int, content_type: str, kinds: frozenset[str] | None) -> Outcome:
    """`read` so far, or what is in the way; kinds of None are all kinds. A redirect that leads nowhere is no answer.

    >>> judge_answer(200, "text/html", frozenset({"text/html"})), judge_answer(403, "", frozenset())
    ('read', 'blocked')
    """
    if 200 <= status < 300:
        return "read" if kinds is None or media_type(content_type) in kinds else "not_text"
    if status in GONE:
        return "gone"
    if 400 <= status < 500:
        return "blocked"
    return "server_error" if status >= 500 else "unreachable"
