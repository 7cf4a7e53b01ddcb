"""Senses for a command, with a progress bar while texts are embedded (on a terminal, once it takes two seconds)."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from weighbeam.senses.local import LocalSenses

PATIENCE_SECONDS = 2.0


@contextmanager
def open_senses(embedder: str, **named: Any) -> Iterator[LocalSenses]:
    if not sys.stderr.isatty():
        yield LocalSenses(embedder, **named)
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task("embedding", visible=False)
        start = time.monotonic()

        def on_progress(done: int, total: int) -> None:
            slow = time.monotonic() - start > PATIENCE_SECONDS
            bars.update(bar, completed=done, total=total, visible=slow and done < total)

        yield LocalSenses(embedder, on_progress=on_progress, **named)
