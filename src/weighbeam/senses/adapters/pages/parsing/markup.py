"""Effects of inline styles on an element: hide it, or make it a block."""

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
BLOCK_DISPLAYS = frozenset(
    "block flex grid table list-item flow-root table-row table-cell table-caption table-row-group".split()
)
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
    return any(_hides_by(name, value) for name, value in _list_declarations(style))


def is_block_by_style(style: str) -> bool:
    """Whether an inline style sets its element off from the text around it. A floating one may be the first letter of
    a word.

    >>> is_block_by_style("color:red; display: Flex"), is_block_by_style("display:block; float:left")
    (True, False)
    """
    said = dict(_list_declarations(style))
    return said.get("display") in BLOCK_DISPLAYS and said.get("float", "none") == "none"


def _list_declarations(style: str) -> list[tuple[str, str]]:
    plain = ESCAPE.sub(_unescape, COMMENT.sub("", style[:MAX_STYLE_CHARACTERS])).lower()
    pairs = (declaration.split(":", 1) for declaration in plain.split(";") if ":" in declaration)
    return [(name.strip(), value.replace("!important", "").strip()) for name, value in pairs]


def _unescape(found: re.Match[str]) -> str:
    code = int(found[1], 16) if found[1] else ord(found[2])
    return chr(code) if code < 0x110000 else ""


def _hides_by(name: str, value: str) -> bool:
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
