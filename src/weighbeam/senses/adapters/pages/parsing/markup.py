"""Elements that inline styles hide, and elements that hold what visitors wrote."""

import re

COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6})\s?|\\(.)", re.DOTALL)
NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d{1,3})?)([a-z%]*)")
FONT_SIZE = re.compile(r"(?:^|\s)0+(?:\.0*)?(?:[a-z%]*)(?:\s|/|$)")
NO_AREA = re.compile(r"rect\((?:0(?:px)?|1px)[\s,]|inset\((?:50|100)%|circle\(0|polygon\(0(?:px)?\s+0(?:px)?\s*\)")
NO_SIZE = re.compile(r"scale[xy3d]*\(\s*0*\.?0*\s*[,)]")
SHIFT = re.compile(r"translate[xy3d]*\(([^)]*)\)")

HIDING_WORDS = {
    "display": ("none",),
    "visibility": ("hidden", "collapse"),
    "content-visibility": ("hidden",),
}
PLACES = (
    "left right top bottom inset inset-inline-start inset-block-start margin "
    "margin-left margin-right margin-top margin-bottom text-indent"
).split()
FAR = {"px": 900.0, "": 900.0, "pt": 700.0, "em": 50.0, "rem": 50.0, "ch": 80.0, "%": 100.0, "vw": 100.0, "vh": 100.0}
SMALLEST_FONT_PIXELS = 1.0
MIN_OPACITY = 0.01
MAX_STYLE_CHARACTERS = 20_000


def is_hidden_by_style(style: str) -> bool:
    """Whether an inline style keeps its element from being seen.

    >>> styles = "color:red; DISPLAY : none !important", "left:-9999px", "opacity:.9; top:-3px"
    >>> tuple(is_hidden_by_style(style) for style in styles)
    (True, True, False)
    """
    plain = ESCAPE.sub(_unescape, COMMENT.sub("", style[:MAX_STYLE_CHARACTERS])).lower()
    return any(_hides_by(*declaration.split(":", 1)) for declaration in plain.split(";") if ":" in declaration)


def _unescape(found: re.Match[str]) -> str:
    code = int(found[1], 16) if found[1] else ord(found[2])
    return chr(code) if code < 0x110000 else ""


def _hides_by(name: str, value: str) -> bool:
    name, value = name.strip(), value.replace("!important", "").strip()
    if name in HIDING_WORDS:
        return value in HIDING_WORDS[name]
    if name == "opacity":
        return _is_below(value, MIN_OPACITY)
    if name == "font-size":
        return _is_below(value, SMALLEST_FONT_PIXELS if value.endswith(("px", "pt")) else MIN_OPACITY)
    if name == "font":
        return FONT_SIZE.search(value) is not None
    if name in PLACES:
        return _is_far(value)
    if name in ("clip", "clip-path"):
        return NO_AREA.search(value) is not None
    if name == "transform":
        return NO_SIZE.search(value) is not None or any(_is_far(found) for found in SHIFT.findall(value))
    return False


def _is_below(value: str, least: float) -> bool:
    number = NUMBER.match(value)
    return number is not None and float(number[1]) < least


def _is_far(value: str) -> bool:
    """Whether a length, or one of several, is negative by more than any screen."""
    lengths = ((float(size), unit) for size, unit in NUMBER.findall(value))
    return any(size <= -FAR.get(unit, 900.0) for size, unit in lengths)


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
MAX_NAME_CHARACTERS = 2_000


def is_user_content(tag: str, *names: str | None) -> bool:
    """Whether a class, id or role names comments, replies or forum posts.

    >>> is_user_content("div", "CommentBody main"), is_user_content("a", "comments-link")
    (True, False)
    """
    if tag in NEVER:
        return False
    return any(_names_visitors(name) for joined in names if joined for name in joined[:MAX_NAME_CHARACTERS].split())


def _names_visitors(name: str) -> bool:
    words = WORDS.split(HUMP.sub("-", name).lower())
    return not USER_WORDS.isdisjoint([*words, name.lower()]) and STATES.isdisjoint(words)
