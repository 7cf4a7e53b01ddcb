"""The made-for-task probe (spec § 8): does the page itself say that it was published after the task was sent?

Software that writes pages to order stamps them as it stamps all others. A page that tells no moment, or a false one, is
not caught: what a page says against itself is believed, what it says for itself proves nothing.
"""

SLACK_SECONDS = 5.0
SKEW_SECONDS = 60.0


def is_made_for_task(published: float | None, sent: float | None, now: float) -> bool | None:
    """Whether a page was published between the task and its reading; None if it cannot be told.

    A moment in the future is no evidence: pages that mistake their local time for UTC say so.

    >>> is_made_for_task(130.0, 100.0, 160.0), is_made_for_task(90.0, 100.0, 160.0), is_made_for_task(9e9, 100.0, 160.0)
    (True, False, None)
    """
    if published is None or sent is None or published > now + SKEW_SECONDS:
        return None
    return published > sent + SLACK_SECONDS
