"""Load texts that were there before: compared with from then on, never paid for.

One line is one text: a JSON string, `{"text": …, "contributor"?: …}`, or a line of an export, of which only the
contributions count. A line that cannot be taken is named, and the others go on.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, BinaryIO

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.desk.desk import NoveltyDesk
from weighbeam.mechanisms.novelty.desk.export import SHAPES
from weighbeam.mechanisms.novelty.desk.submission import NoveltySubmission

MAX_LINE = 8_000_000
AT_ONCE = 128


@dataclass(frozen=True, slots=True)
class BadImportLine:
    """A line that was not taken, and why."""

    line: int
    error: str
    message: str


@dataclass(slots=True)
class ImportReport:
    """Outcome of the lines: each is counted once."""

    imported: int = 0
    duplicates: int = 0
    skipped: int = 0
    bad: list[BadImportLine] = field(default_factory=list)


def import_lines(
    desk: NoveltyDesk, file: BinaryIO, contributor: str, on_progress: Callable[[int], None]
) -> ImportReport:
    """Every text of a file, in batches: one run of the model and one transaction each. It can be run again."""
    brought = ImportReport()
    lines = enumerate(split_lines(file), start=1)
    while batch := list(islice(lines, AT_ONCE)):
        _insert_new(desk, _parse_batch(desk, batch, contributor, brought), brought)
        on_progress(file.tell())
    return brought


def split_lines(file: BinaryIO) -> Iterator[bytes]:
    """Lines; of one that is too long only a part that is too long as well."""
    while line := file.readline(MAX_LINE + 1):
        rest = line
        while len(rest) > MAX_LINE and not rest.endswith(b"\n"):
            rest = file.readline(MAX_LINE + 1)
        yield line


def _parse_batch(
    desk: NoveltyDesk, batch: Iterable[tuple[int, bytes]], contributor: str, brought: ImportReport
) -> dict[str, tuple[int, str, NoveltySubmission]]:
    """Parse a batch: new texts by form, each once."""
    new: dict[str, tuple[int, str, NoveltySubmission]] = {}
    for number, line in batch:
        try:
            read = _parse_line(line, contributor)
            if read is None:
                brought.skipped += 1
                continue
            given = desk.identify(*read, imported=True)
            if given.form in new or desk.is_known(given):
                brought.duplicates += 1
            else:
                new[given.form] = (number, read[1], given)
        except WeighbeamError as fault:
            if fault.code == "store_fault":
                raise
            brought.bad.append(BadImportLine(number, fault.code, fault.message))
    return new


def _insert_new(desk: NoveltyDesk, new: dict[str, tuple[int, str, NoveltySubmission]], brought: ImportReport) -> None:
    if not new:
        return
    given = _measure(desk, list(new.values()), brought)
    for number, result in zip(given, desk.take_in(list(given.values())), strict=True):
        if isinstance(result, WeighbeamError):
            brought.bad.append(BadImportLine(number, result.code, result.message))
        elif isinstance(result, Exception):
            raise result
        elif result["status"] == "duplicate":
            brought.duplicates += 1
        else:
            brought.imported += 1


def _measure(
    desk: NoveltyDesk, rows: list[tuple[int, str, NoveltySubmission]], brought: ImportReport
) -> dict[int, NoveltySubmission]:
    """By line what can be taken in, measured all at once; if one of them is refused, each by itself."""
    try:
        measured = desk.measure([text for _, text, _ in rows], imported=True)
    except WeighbeamError as fault:
        if len(rows) > 1:
            return {line: one for row in rows for line, one in _measure(desk, [row], brought).items()}
        brought.bad.append(BadImportLine(rows[0][0], fault.code, fault.message))
        return {}
    return {number: replace(one, measured=found) for (number, _, one), found in zip(rows, measured, strict=True)}


def _parse_line(line: bytes, contributor: str) -> tuple[str, str] | None:
    """Contributor and text; None for a line that holds no text and need not."""
    if len(line) > MAX_LINE:
        raise WeighbeamError("file_too_large", f"it has more than {MAX_LINE:,} bytes", "contribute it in parts")
    if not line.strip():
        return None
    try:
        found: Any = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as fault:
        raise WeighbeamError("not_json", f"it is not JSON: {fault}", "write one JSON value on each line") from None
    if isinstance(found, str):
        return contributor, found
    if isinstance(found, dict) and _is_of_export(found):
        return None
    if not isinstance(found, dict) or not isinstance(found.get("text"), str):
        raise WeighbeamError("bad_text", "it holds no text", 'write {"text": "…"}')
    return found.get("contributor", contributor), found["text"]


def _is_of_export(line: dict[str, Any]) -> bool:
    """Of an export every line but a contribution with a text: duplicates and withdrawn ones have none."""
    kind = line.get("kind")
    return kind in SHAPES and (kind != "contribution" or line.get("text") is None)
