"""Templates to pages, all values escaped, and what is prepared before the first request."""

import json
import re
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote

from fastapi import Response
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from weighbeam import __version__
from weighbeam.charts import dashboard
from weighbeam.charts.heatmap import frame_heatmap
from weighbeam.charts.render import format_inert_json
from weighbeam.engine.alerts.alerts import log_fault
from weighbeam.engine.views.names import NO_NAMES, MinerName, NameBook
from weighbeam.service.pages import formats
from weighbeam.service.pages.static_files import list_files

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
PREFIX = re.compile(r"\b(5[1-9A-HJ-NP-Za-km-z]{3,47})\b")
OWN_PACKAGE = "weighbeam.service.pages"
SHOWN_NAMES: ContextVar[NameBook] = ContextVar("shown_names", default=NO_NAMES)
ADDRESS = re.compile(r"\b(5[1-9A-HJ-NP-Za-km-z]{47})\b")
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
    "Vary": "Authorization",
}


@dataclass(frozen=True, slots=True)
class Frame:
    """Frame of every page around its content."""

    menu: Sequence[tuple[str, str]]
    node: str
    book: NameBook = NO_NAMES


def render(template: str, frame: Frame, here: str, now: float, package: str = OWN_PACKAGE, **content: Any) -> str:
    """A page by its template, which is in the folder `templates` of `package`."""
    page = open_templates(package).get_template(template)
    before = SHOWN_NAMES.set(frame.book)
    try:
        return page.render(
            menu=frame.menu,
            node=frame.node,
            here=here,
            now=now,
            version=__version__,
            files=list_files(),
            **content,
        )
    finally:
        SHOWN_NAMES.reset(before)


def find_shown_name(hotkey: str, mechanism: str | None = None) -> MinerName:
    """The names of hotkeys on the page being rendered; every template's macros look them up by `who`."""
    return SHOWN_NAMES.get().find(hotkey, mechanism)


def page_response(html: str, status: int = 200, more: Mapping[str, str] | None = None) -> Response:
    return Response(html, status, {**HEADERS, **(more or {})}, "text/html; charset=utf-8")


@cache
def open_templates(package: str = OWN_PACKAGE) -> Environment:
    """The templates of a package; those of the dashboard can be extended and imported by them."""
    loader = ChoiceLoader([PackageLoader(name) for name in dict.fromkeys((package, OWN_PACKAGE))])
    made = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "number": formats.format_number,
        "percent": formats.format_percent,
        "share": formats.format_share,
        "age": formats.format_age,
        "brief": formats.shorten,
        "tone": formats.find_tone,
        "polyline": formats.trace_line,
        "moment": format_moment,
        "stamp": format_stamp,
        "inert": lambda spec: Markup(format_inert_json(spec)),
        "pretty": lambda value: json.dumps(value, indent=2, ensure_ascii=False, default=str),
        "tokens": formats.format_tokens,
        "fixed": formats.format_fixed,
        "tao": lambda value: formats.format_decimals(value, 3),
        "keys": link_keys,
        "coded": mark_code,
        "story": link_prefixes,
    }
    made.globals["who"] = find_shown_name
    return made


def mark_code(text: str) -> Markup:
    """Words between backticks as code; everything else escaped.

    >>> print(mark_code("`next` of <b>"))
    <code>next</code> of &lt;b&gt;
    """
    parts = text.split("`")
    whole = len(parts) % 2
    marked = [
        Markup("<code>{}</code>").format(part) if at % 2 and whole else escape(part) for at, part in enumerate(parts)
    ]
    return Markup("" if whole else "`").join(marked)


def link_keys(text: str, mechanism: str | None = None) -> Markup:
    """Addresses in a text made short, each leading to its miner; everything else escaped.

    >>> print(link_keys("5FhnomziA8LvBjVgFmNbwRacmvvnbJUhZ9g8X3qeQAw8D5HY <b>"))
    <a class="key" href="/miners/5FhnomziA8LvBjVgFmNbwRacmvvnbJUhZ9g8X3qeQAw8D5HY"><bdi>5Fhnom…8D5HY</bdi></a> &lt;b&gt;
    """
    parts = [escape(part) if at % 2 == 0 else _link_key(part, mechanism) for at, part in enumerate(ADDRESS.split(text))]
    return Markup("").join(parts)


def link_prefixes(
    text: str, hotkeys: Sequence[str], mechanism: str | None = None, picture: str | None = None
) -> Markup:
    """Hotkeys of a story, written out or by their first characters, lead to their miners; its picture is a link too.

    A beginning that two of them share leads nowhere; everything else is escaped.

    >>> print(link_prefixes("best 5Fhnomzi & 5Cab", ["5FhnomziA8LvBjVgFm", "5Cabc", "5Cabd"]))
    best <a class="key" href="/miners/5FhnomziA8LvBjVgFm" title="5FhnomziA8LvBjVgFm"><bdi>5Fhnomzi</bdi></a> &amp; 5Cab
    """
    made = Markup()
    for at, part in enumerate(PREFIX.split(text)):
        found = [one for one in hotkeys if one.startswith(part)] if at % 2 else []
        if len(found) == 1:
            address, name = quote(found[0], safe=""), find_shown_name(found[0], mechanism).name
            link = Markup('<a class="key" href="/miners/{}" title="{}"><bdi>{}</bdi></a>')
            made += link.format(address, found[0], part if name is None else f"{name} ({part})")
        else:
            made += escape(part)
    if picture is None:
        return made
    shown = Markup('<a href="{}">heatmap.png</a>').format(picture)
    return shown.join(Markup(one) for one in str(made).split(str(escape(picture))))


def _link_key(hotkey: str, mechanism: str | None) -> Markup:
    name = find_shown_name(hotkey, mechanism).name
    shown = formats.shorten(hotkey) if name is None else f"{name} ({formats.shorten(hotkey)})"
    return Markup('<a class="key" href="/miners/{}"><bdi>{}</bdi></a>').format(hotkey, shown)


def format_moment(at: float, now: float) -> Markup:
    """A time for people and for programs: its age if it is recent, else its date. Nothing in it needs an escape."""
    exact = formats.format_time(at)
    ago = now - at
    if abs(ago) < 1:
        shown = exact.replace("T", " ").removesuffix("Z")
    else:
        shown = f"{formats.format_age(ago)} ago" if ago > 0 else f"in {formats.format_age(-ago)}"
    return Markup(f'<time datetime="{exact}" title="{exact}">{shown}</time>')


def format_stamp(at: float) -> Markup:
    """A time itself, in UTC; a script of the page puts it in the reader's zone.

    >>> print(format_stamp(1767225600.0))
    <time class="stamp" datetime="2026-01-01T00:00:00Z">2026-01-01 00:00:00 UTC</time>
    """
    exact = formats.format_time(at)
    shown = exact.replace("T", " ").removesuffix("Z")
    return Markup(f'<time class="stamp" datetime="{exact}">{shown} UTC</time>')


USUAL_ANSWERS = 10


def prepare_pages() -> None:
    """Takes a second or two; a failure is logged, and the work is done on demand."""
    try:
        list_files()
        templates = open_templates()
        for name in templates.list_templates():
            templates.get_template(name)
        for chart in (
            dashboard.chart_hours,
            dashboard.chart_shares,
            dashboard.chart_concentration,
            dashboard.chart_payouts,
        ):
            chart([])
        dashboard.chart_course([], "", "")
        for lower_is_better in (True, False):
            dashboard.chart_standings([], lower_is_better)
        frame_heatmap(USUAL_ANSWERS)
    except Exception as fault:
        log_fault(fault)
