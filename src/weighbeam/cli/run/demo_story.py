"""The demo as it runs: one live line on a terminal, a plain line for each step in a pipe."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from weighbeam.demo.subnet import DemoStep, StepOutcome

NAME_WIDTH, CELL_WIDTH = 16, 14


class DemoStory:
    """Says what happens; every line fits 80 columns. Silent for programs that read the result as JSON."""

    def __init__(self, live: "Progress | None" = None, silent: bool = False) -> None:
        self.live = live
        self.silent = silent
        self.task: TaskID | None = None
        self.columns: list[str] = []
        self.valid = self.asked = 0
        self.extra = False

    def tell(self, line: str) -> None:
        """A line that stays."""
        if self.silent:
            return
        if self.live is None:
            typer.echo(line, err=True)
        else:
            self.live.console.print(line, highlight=False, markup=False, soft_wrap=True)

    def begin(self, what: str) -> None:
        """The current step; on a terminal only, where the next one replaces it."""
        if self.live is None:
            return
        if self.task is None:
            self.task = self.live.add_task(what, total=None)
        else:
            self.live.update(self.task, description=what)

    def end(self) -> None:
        """Remove the live line: what follows is printed elsewhere."""
        if self.live is not None:
            self.live.stop()

    def follow(self, step: "DemoStep", after: str) -> None:
        """A step that is done, and what comes after it."""
        if self.live is None:
            self._tell_row(step)
        elif step.kind == "extra":
            self.tell(f"{step.name}: this machine was late for a round, which is void")
        elif step.kind == "weigh-in":
            for name, outcomes in step.outcomes.items():
                self.tell(f"weights of {name}: {_sum_up(outcomes)}")
        valid, asked = _count(one for outcomes in step.outcomes.values() for one in outcomes)
        self.valid, self.asked = self.valid + valid, self.asked + asked
        self.begin(f"{after}; {self.valid} of {self.asked} answers valid")

    def _tell_row(self, step: "DemoStep") -> None:
        if not self.columns:
            self.columns = list(step.outcomes)
            self.tell(_format_row("valid answers", self.columns))
        if step.kind == "extra" and not self.extra:
            self.extra = True
            self.tell("  this machine was late: some rounds are void, and further ones are played:")
        cells = {name: _sum_up(outcomes) for name, outcomes in step.outcomes.items()}
        self.tell(_format_row(f"  {step.name}", [cells.get(name, "") for name in self.columns]))


@contextmanager
def open_story(silent: bool) -> Iterator[DemoStory]:
    if silent or not sys.stderr.isatty():
        yield DemoStory(silent=silent)
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.table import Column

    text = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis"))
    elapsed = TimeElapsedColumn(table_column=Column(no_wrap=True, min_width=7))
    columns = (SpinnerColumn(), elapsed, text)
    with Progress(*columns, console=Console(stderr=True), transient=True) as live:
        yield DemoStory(live)


def _format_row(name: str, cells: list[str]) -> str:
    return (name.ljust(NAME_WIDTH) + "".join(cell.rjust(CELL_WIDTH) for cell in cells)).rstrip()


def _sum_up(outcomes: "list[StepOutcome]") -> str:
    """The outcome for both validators together.

    >>> _sum_up([None, None])
    '–'
    """
    from weighbeam.engine.journal.journal import CommittedRound

    if any(isinstance(one, CommittedRound) for one in outcomes):
        valid, asked = _count(outcomes)
        return f"{valid} of {asked}" if asked else "void"
    states = {
        one.submission.state if one.submission else f"skipped ({one.decision.reason})"
        for one in outcomes
        if one is not None and not isinstance(one, CommittedRound)
    }
    return ", ".join(sorted(states)) or "–"


def _count(outcomes: "Iterable[StepOutcome]") -> tuple[int, int]:
    """Valid answers, and all of them; a void round, in which nothing counts, is left out."""
    from weighbeam.demo.subnet import is_void
    from weighbeam.engine.journal.journal import CommittedRound

    rounds = [one.scored for one in outcomes if isinstance(one, CommittedRound) and not is_void(one.scored)]
    scores = [score for scored in rounds for score in scored.scores]
    return sum(score.status == "valid" for score in scores), len(scores)
