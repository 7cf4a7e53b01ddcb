"""Which parts of a page visitors wrote: comments, replies and forum posts, recognised by the names of elements.

Names such as `comments` are certain. `postbody` and its like are a forum's for each post, and a blog's for its article:
several on a page are posts; a single one that holds most of the text is the article, unless the page is a forum's.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from weighbeam.senses.adapters.pages.parsing.lines import LineMark, TextLines

HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
WORDS = re.compile(r"[^a-z]+")
USER_WORDS = frozenset(
    "comment comments commentlist commentbody commentthread reply replies disqus forum forums forumpost forumposts "
    "guestbook userpost userposts usercomments".split()
)
POST_WORDS = frozenset("postbody postcontent postmessage".split())
FORUM_WORDS = frozenset("forum forums viewtopic viewthread showthread phpbb vbulletin".split())
STATES = frozenset(
    "open closed off enabled disabled count counts link links number has no allow status icon button".split()
)
NEVER = ("html", "body")
MAX_NAME_CHARACTERS = 2_000
KEPT = 4096
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class NamedWriters:
    """Whether names are those of visitors' words, of posts that may be an article, of a forum."""

    users: bool = False
    post: bool = False
    forum: bool = False


NOBODY = NamedWriters()


def name_writers(tag: str, *names: str | None) -> NamedWriters:
    """Author of an element, from its class, id and role.

    >>> name_writers("div", "CommentBody main").users, name_writers("a", "comments-link").users
    (True, False)
    >>> name_writers("div", "x postContent")
    NamedWriters(users=False, post=True, forum=False)
    """
    joined = " ".join(name[:MAX_NAME_CHARACTERS] for name in names if name)
    found = _read_names(joined) if joined else NOBODY
    return NamedWriters(forum=found.forum) if tag in NEVER else found


@lru_cache(KEPT)
def _read_names(joined: str) -> NamedWriters:
    users = post = forum = False
    for name in joined.split():
        words = {*WORDS.split(HUMP.sub("-", name).lower()), name.lower()}
        if STATES.isdisjoint(words):
            users = users or not USER_WORDS.isdisjoint(words)
            post = post or not POST_WORDS.isdisjoint(words)
            forum = forum or not FORUM_WORDS.isdisjoint(words)
    return NamedWriters(users, post, forum)


@dataclass(slots=True)
class MarkedSpans:
    """Where elements of one kind begin and end; those inside others count as one."""

    depth: int = 0
    begin: LineMark = field(default_factory=LineMark)
    marks: list[tuple[LineMark, LineMark]] = field(default_factory=list)

    def enter(self, lines: TextLines) -> None:
        if not self.depth:
            self.begin = lines.mark()
        self.depth += 1

    def leave(self, lines: TextLines) -> None:
        self.depth -= 1
        if not self.depth:
            self.marks.append((self.begin, lines.mark()))

    def list_spans(self) -> list[Span]:
        return [(begin.at, end.at) for begin, end in self.marks if begin.at < end.at]


def find_user_spans(length: int, users: Sequence[Span], posts: Sequence[Span], forum: bool) -> list[Span]:
    """The spans that visitors wrote, of a text so long.

    >>> find_user_spans(100, [(90, 100)], [(10, 80)], False), find_user_spans(100, [], [(10, 80)], True)
    ([(90, 100)], [(10, 80)])
    """
    if len(posts) == 1 and not forum:
        ((begin, end),) = posts
        inside = sum(max(0, min(end, last) - max(begin, first)) for first, last in users)
        elsewhere = length - sum(last - first for first, last in users)
        if 2 * (end - begin - inside) > elsewhere:
            return list(users)
    return _join([*users, *posts])


def _join(spans: Sequence[Span]) -> list[Span]:
    """Without overlaps, in order."""
    joined: list[Span] = []
    for begin, end in sorted(spans):
        if joined and begin < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((begin, end))
    return joined
