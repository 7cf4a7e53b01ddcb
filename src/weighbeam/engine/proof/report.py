"""The result of a proof as lines, as JSON and as one page."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.engine.proof.prove import ProofSummary

FORMATS = (".json", ".html")


def format_summary(summary: ProofSummary) -> Iterator[str]:
    """Summarise signatures in a few sentences."""
    sequence, digest = summary.end
    head = summary.head
    if head is not None and head.is_signed:
        yield f"signed by {head.hotkey} (head {head.number}, {format_time(head.at)})"
    else:
        yield "not signed: nothing shows who wrote this journal"
    yield f"head {sequence}:{digest}"
    span = f"blocks {summary.blocks[0]} to {summary.blocks[1]}" if summary.blocks else "no rounds"
    if summary.times:
        span += f", {format_time(summary.times[0])} to {format_time(summary.times[1])}"
    yield f"{summary.rounds} rounds, {summary.weigh_ins} weigh-ins, {span}"
    yield f"{summary.replies} replies verified, {summary.unsigned_replies} without a signature"


def format_time(seconds: float) -> str:
    """
    >>> format_time(0)
    '1970-01-01 00:00:00 UTC'
    """
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))
    except (OverflowError, ValueError, OSError, TypeError):
        return f"{seconds!r} s"


def check_report_file(file: Path) -> None:
    """Refuse before any work is done."""
    told = f"{file} must end in {' or '.join(FORMATS)}"
    require(file.suffix in FORMATS, "bad_report", told, "name a .json or .html file")
    require(file.parent.is_dir(), "bad_report", f"{file.parent} is not a folder", "create it, or name another file")


def save_report(summary: ProofSummary, file: Path) -> None:
    text = render_page(summary) if file.suffix == ".html" else json.dumps(summary.as_json(), indent=1) + "\n"
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as fault:
        raise WeighbeamError("bad_report", f"{file}: {fault.strerror}", "name a file you may write") from None


def render_page(summary: ProofSummary) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    page = Environment(loader=PackageLoader("weighbeam.engine.proof"), autoescape=True, undefined=StrictUndefined)
    return page.get_template("proof.html").render(summary=summary, found=summary.as_json(), format_time=format_time)
