"""Progress bars: on a terminal only, once something takes two seconds."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weighbeam.senses.local import LocalSenses

PATIENCE_SECONDS = 2.0


@contextmanager
def show_rows(what: str) -> Iterator[Callable[[int, int], None]]:
    """Told how much is done, and of how much."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(what, visible=False)
        start = time.monotonic()

        def on_progress(done: int, total: int) -> None:
            slow = time.monotonic() - start > PATIENCE_SECONDS
            bars.update(bar, completed=done, total=total, visible=slow and done < total)

        yield on_progress


@contextmanager
def open_senses(embedder: str, **named: Any) -> Iterator["LocalSenses"]:
    """Senses for a command; the bar is of texts to embed."""
    from weighbeam.senses.local import LocalSenses

    if not sys.stderr.isatty():
        yield LocalSenses(embedder, late=True, **named)
        return
    with show_rows("embedding") as on_progress:
        yield LocalSenses(embedder, on_progress=on_progress, late=True, **named)
