"""Reference evidence miners: honest ones that search an archive, hostile ones with one trick each."""

import asyncio
from pathlib import Path
from typing import Any

from weighbeam.miners.evidence_tricks import TRICKS as TRICKS
from weighbeam.miners.library import VARIANTS, open_library
from weighbeam.miners.passages import RULES
from weighbeam.network.serve import Handler
from weighbeam.senses.pages.index import read_index

LATE_SECONDS = {"copycat": 1.0, "hoarder": 1.0, "stuffer": 1.0}


def archive_answerer(folder: Path, variant: int = 0, variants: int = VARIANTS) -> Handler:
    """A miner that quotes the pages of a folder; variants, three or however many, quote different sentences.

    A folder without an index stops the start. Its pages are read with the first task, beside the event loop.
    """
    read_index(folder)

    async def answer(task: dict[str, Any], _: float) -> Any:
        return await asyncio.to_thread(quote_archive, folder, task, variant, variants)

    return answer


def hostile_answerer(trick: str) -> Handler:
    """A miner that wants to be paid without evidence of its own. Those that use what others find come later."""
    spoil = TRICKS[trick]

    async def answer(task: dict[str, Any], _: float) -> Any:
        await asyncio.sleep(LATE_SECONDS.get(trick, 0.0))
        return await asyncio.to_thread(spoil, _read_statement(task))

    return answer


def quote_archive(folder: Path, task: dict[str, Any], variant: int, variants: int = VARIANTS) -> dict[str, Any]:
    """The answer to a task: its passages, as they stand on their pages."""
    most = task.get("max_snippets")
    most = most if isinstance(most, int) and most > 0 else RULES.max_snippets
    chosen = open_library(folder).choose(_read_statement(task), most, variant, variants)
    return {"snippets": [{"url": passage.url, "excerpt": passage.text} for passage in chosen]}


def _read_statement(task: dict[str, Any]) -> str:
    return str(task.get("statement", ""))
