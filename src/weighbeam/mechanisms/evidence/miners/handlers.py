"""Reference evidence miners: honest ones that search an archive, hostile ones with one trick each."""

import asyncio
import re
from pathlib import Path
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.evidence.miners.library import VARIANTS, open_library
from weighbeam.mechanisms.evidence.miners.passages import RULES
from weighbeam.mechanisms.evidence.miners.tricks import TRICKS as TRICKS
from weighbeam.mechanisms.evidence.task import find_archive
from weighbeam.network.miner_app import Handler
from weighbeam.senses.adapters.pages.archive.index import load_index
from weighbeam.senses.ports.protocols import Senses

ARCHIVE = re.compile(r"archive(?::(?P<folder>[^#]+))?(?:#(?P<variant>\d{1,2})(?:/(?P<variants>\d{1,2}))?)?")
LATE_SECONDS = {"copycat": 1.0, "hoarder": 1.0, "stuffer": 1.0}


def find_miner(name: str, senses: Senses) -> Handler | None:
    """`hostile:TRICK`, or `archive`: the built-in one, `archive:FOLDER` another; `#2` behind it is the variant, `#2/5`
    that of five."""
    kind, _, rest = name.partition(":")
    if kind == "hostile" and rest in TRICKS:
        return hostile_answerer(rest)
    if kind.partition("#")[0] != "archive":
        return None
    read = ARCHIVE.fullmatch(name)
    variant, variants = (int(read["variant"] or 0), int(read["variants"] or VARIANTS)) if read else (1, 0)
    if read is None or variant >= variants:
        raise WeighbeamError("bad_config", f"{name} is not a variant", "write archive#N or archive#N/M, from 0")
    folder = Path(read["folder"]) if read["folder"] else find_archive()
    return archive_answerer(folder, variant, variants)


def archive_answerer(folder: Path, variant: int = 0, variants: int = VARIANTS) -> Handler:
    """A miner that quotes the pages of a folder; variants, three or however many, quote different sentences.

    A folder without an index stops the start. Its pages are read with the first task, beside the event loop.
    """
    load_index(folder)

    async def answer(task: dict[str, Any], _: float) -> Any:
        return await asyncio.to_thread(quote_archive, folder, task, variant, variants)

    return answer


def hostile_answerer(trick: str) -> Handler:
    """A miner that wants to be paid without evidence of its own. Those that use what others find come later."""
    spoil = TRICKS[trick]

    async def answer(task: dict[str, Any], _: float) -> Any:
        await asyncio.sleep(LATE_SECONDS.get(trick, 0.0))
        return await asyncio.to_thread(spoil, _parse_statement(task))

    return answer


def quote_archive(folder: Path, task: dict[str, Any], variant: int, variants: int = VARIANTS) -> dict[str, Any]:
    """The answer to a task: its passages, as they stand on their pages."""
    limit = task.get("max_snippets")
    limit = limit if isinstance(limit, int) and limit > 0 else RULES.max_snippets
    chosen = open_library(folder).choose(_parse_statement(task), limit, variant, variants)
    return {"snippets": [{"url": passage.url, "excerpt": passage.text} for passage in chosen]}


def _parse_statement(task: dict[str, Any]) -> str:
    return str(task.get("statement", ""))
