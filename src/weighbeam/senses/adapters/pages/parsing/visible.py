"""Visible text of a page; and the same with text hidden by markup.

Inline elements add nothing between their neighbours, block elements and `br` a line feed. Style sheets and scripts
are not run, so boxes that only a style sheet separates are recognised by their names and letters. The full text
adds what is hidden by attribute or inline style, struck text and comments, and leaves out what a browser may well show
although we do not: scripts, templates, drawings and form fields.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

from weighbeam.core.text import normalise_text
from weighbeam.senses.adapters.pages.limits import ParserLimits
from weighbeam.senses.adapters.pages.outcome import PageUnreadable
from weighbeam.senses.adapters.pages.parsing.lines import TextLines
from weighbeam.senses.adapters.pages.parsing.markup import is_block_by_style, is_hidden_by_style
from weighbeam.senses.adapters.pages.parsing.visitors import MarkedSpans, NamedWriters, find_user_spans, name_writers

LEFT_OUT = frozenset(
    "head script style template noscript iframe object svg textarea select datalist option title noembed noframes "
    "audio video canvas embed annotation annotation-xml rp applet".split()
)
STRUCK = frozenset("del s strike".split())
BLOCKS = frozenset(
    "address article aside blockquote body br button caption center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre search "
    "section summary table tbody td tfoot th thead tr ul".split()
)
HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
KEEP_LINES = frozenset(("pre", "listing", "plaintext", "xmp"))
LOWER_BEFORE = 3
MAX_HEADINGS = 300
MAX_HEADING = 300


@dataclass(slots=True)
class VisibleText:
    """The text of a page. `hidden`: there is text that the markup hides."""

    text: str
    headings: list[str]
    user_spans: list[tuple[int, int]]
    hidden: bool


@dataclass(slots=True)
class _Walk:
    """One pass through a tree, with what is open at the moment."""

    lines: TextLines
    hidden_too: bool
    hidden: bool = False
    out_of_sight: int = 0
    kept: int = 0
    forum: bool = False
    box_ended: bool = False
    box_begun: bool = False
    heading: list[str] | None = None
    headings: list[str] = field(default_factory=list)
    users: MarkedSpans = field(default_factory=MarkedSpans)
    posts: MarkedSpans = field(default_factory=MarkedSpans)

    def put(self, text: str) -> None:
        if self.out_of_sight:
            self.hidden = self.hidden or not text.isspace()
            if not self.hidden_too:
                return
        if self.box_begun and _begins_word(self.lines.tail(LOWER_BEFORE), text):
            text = f" {text}"
        if text:
            self.box_ended = self.box_begun = False
        self.lines.add(text, keep_lines=self.kept > 0)
        if self.heading is not None:
            self.heading.append(text)


def _begins_word(before: str, text: str) -> bool:
    """Whether a word ends in small letters and another begins with a capital: no word looks so inside, but for names
    such as JavaScript, which match in two pieces as well."""
    return len(before) == LOWER_BEFORE and before.isalpha() and before.islower() and text[:1].isupper()


def extract_visible(root: LexborNode, limits: ParserLimits, hidden_too: bool = False) -> VisibleText:
    """The text below a root; `PageUnreadable` if the tree is too deep or has too many nodes."""
    walk = _Walk(TextLines(limits.characters), hidden_too)
    nodes = 0
    opened: list[tuple[_Element, Iterator[LexborNode]]] = []
    below: Iterator[LexborNode] = iter((root,))
    while True:
        node = next(below, None)
        if node is None:
            if not opened:
                break
            element, below = opened.pop()
            element.leave(walk)
            continue
        nodes += 1
        if nodes > limits.nodes or len(opened) >= limits.depth:
            raise PageUnreadable("nodes" if nodes > limits.nodes else "depth")
        inside = _enter(node, walk)
        if inside is not None:
            opened.append((inside, below))
            below = _children(node)
    text = walk.lines.finish()
    spans = find_user_spans(len(text), walk.users.list_spans(), walk.posts.list_spans(), walk.forum)
    return VisibleText(text, walk.headings, spans, walk.hidden)


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


@dataclass(frozen=True, slots=True)
class _Element:
    """An element that was entered, and what has to be undone when it is left."""

    tag: str
    out_of_sight: bool
    block: bool
    named: bool
    writers: NamedWriters

    def enter(self, walk: _Walk) -> None:
        if self.block:
            walk.lines.break_line()
            if walk.heading is not None:
                walk.heading.append(" ")
        walk.box_begun = walk.box_begun or (self.named and walk.box_ended)
        walk.out_of_sight += self.out_of_sight
        walk.kept += self.tag in KEEP_LINES
        walk.forum = walk.forum or self.writers.forum
        if self.writers.users:
            walk.users.enter(walk.lines)
        if self.writers.post:
            walk.posts.enter(walk.lines)
        if self.tag in HEADINGS and not walk.out_of_sight:
            walk.heading = []

    def leave(self, walk: _Walk) -> None:
        if self.tag in HEADINGS and walk.heading is not None:
            said = " ".join(normalise_text("".join(walk.heading)).split())
            if said and len(walk.headings) < MAX_HEADINGS:
                walk.headings.append(said[:MAX_HEADING])
            walk.heading = None
        if self.writers.users:
            walk.users.leave(walk.lines)
        if self.writers.post:
            walk.posts.leave(walk.lines)
        walk.box_ended = walk.box_ended or self.named
        walk.kept -= self.tag in KEEP_LINES
        walk.out_of_sight -= self.out_of_sight
        if self.block:
            walk.lines.break_line()


def _enter(node: LexborNode, walk: _Walk) -> _Element | None:
    """Go into a node if it is an element with something to see; else take what it is."""
    if node.is_text_node:
        walk.put(node.text_content or "")
        return None
    if node.is_comment_node:
        _take_comment(node, walk)
        return None
    tag = node.tag or ""
    if not node.is_element_node or tag in LEFT_OUT:
        return None
    names = node.attributes
    style = names.get("style") or ""
    out_of_sight = tag in STRUCK or "hidden" in names or (bool(style) and is_hidden_by_style(style))
    block = tag in BLOCKS or (bool(style) and is_block_by_style(style))
    if out_of_sight and not walk.hidden_too:
        walk.hidden = True
        if block:
            walk.lines.break_line()
        return None
    writers = name_writers(tag, names.get("class"), names.get("id"), names.get("role"))
    element = _Element(tag, out_of_sight, block, bool(style or names.get("class")), writers)
    element.enter(walk)
    return element


def _take_comment(node: LexborNode, walk: _Walk) -> None:
    walk.hidden = True
    if walk.hidden_too:
        walk.lines.break_line()
        walk.lines.add(node.comment_content or "")
        walk.lines.break_line()
