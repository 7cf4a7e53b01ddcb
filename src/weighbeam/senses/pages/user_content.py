"""Which elements hold what visitors wrote, by the names that page makers give them."""

import re

HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
WORDS = re.compile(r"[^a-z]+")
USER_WORDS = frozenset(
    "comment comments commentlist commentbody commentthread reply replies disqus forum forums forumpost forumposts "
    "guestbook postbody postcontent postmessage userpost userposts usercomments".split()
)
STATES = frozenset(
    "open closed off enabled disabled count counts link links number has no allow status icon button".split()
)
NEVER = ("html", "body")
MOST_CHARACTERS = 2_000


def is_user_content(tag: str, *names: str | None) -> bool:
    """Whether a class, id or role names comments, replies or forum posts.

    >>> is_user_content("div", "CommentBody main"), is_user_content("a", "comments-link")
    (True, False)
    """
    if tag in NEVER:
        return False
    return any(_names_visitors(name) for joined in names if joined for name in joined[:MOST_CHARACTERS].split())


def _names_visitors(name: str) -> bool:
    words = WORDS.split(HUMP.sub("-", name).lower())
    return not USER_WORDS.isdisjoint([*words, name.lower()]) and STATES.isdisjoint(words)
