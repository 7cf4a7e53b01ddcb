"""Progress bars: on a terminal only, once something takes two seconds."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weighbeam.senses.local import LocalSenses

PATIENCE_SECONDS = 2.0


@contextmanager
def show_rows(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar that shows once something takes two seconds; call it with how much is done, and of how much.

    Until then, and while a model is loaded, it shows only that work goes on.
    """
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(what, total=None, visible=False)
        with _after_patience(lambda: bars.update(bar, visible=True)):
            yield lambda done, total: bars.update(bar, completed=done, total=total)


@contextmanager
def show_waiting(what: str) -> Iterator[None]:
    """A spinner on a terminal, once something takes two seconds, for work whose length nobody knows."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as spinner:
        task = spinner.add_task(what, total=None, visible=False)
        with _after_patience(lambda: spinner.update(task, visible=True)):
            yield


@contextmanager
def _after_patience(act: Callable[[], None]) -> Iterator[None]:
    timer = threading.Timer(PATIENCE_SECONDS, act)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def open_senses(embedder: str, **named: Any) -> Iterator["LocalSenses"]:
    """Senses for a command; the bar is of texts to embed."""
    from weighbeam.senses.local import LocalSenses

    if not sys.stderr.isatty():
        yield LocalSenses(embedder, late=True, **named)
        return
    with show_rows("embedding") as on_progress:
        yield LocalSenses(embedder, on_progress=on_progress, late=True, **named)
