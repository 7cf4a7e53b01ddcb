"""Outcomes of reading a page: exceptions that end a read, and the meaning of status and content type."""

from weighbeam.senses.ports.page import PageOutcome


class ReadEnded(Exception):
    """The read is over; `why` is one word for the record."""

    outcome: PageOutcome = "unreachable"

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class ReadRefused(ReadEnded):
    """The guard says no."""

    outcome: PageOutcome = "refused"


class PageUnreachable(ReadEnded):
    """No answer: name, connection, certificate, protocol, time or hop limit."""


class PageBlocked(ReadEnded):
    """The host does not want it read."""

    outcome: PageOutcome = "blocked"


class PageTooLarge(ReadEnded):
    """A cap was met."""

    outcome: PageOutcome = "too_large"


class PageUnreadable(ReadEnded):
    """The content cannot be decoded, or its parser was stopped."""

    outcome: PageOutcome = "unreadable"


GONE = (404, 410)


def media_type(content_type: str) -> str:
    """The type without its parameters.

    >>> media_type("Text/HTML; charset=utf-8")
    'text/html'
    """
    return content_type.partition(";")[0].strip().lower()


def judge_answer(status: int, content_type: str, kinds: frozenset[str] | None) -> PageOutcome:
    """`read` so far, or the obstacle; kinds of None allow all kinds. A redirect that leads nowhere counts as no answer.

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
