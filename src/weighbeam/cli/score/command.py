"""The steps of `weighbeam score MECHANISM FILE`, for a mechanism that adds options or a table to override.

Help and completion load this module and the ones that override it, so nothing heavy is imported at their top.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from weighbeam.cli.common.shell import make_printable, print_json

MAX_WARNING = 400
MAX_NAME = 60
MAX_VALUE = 600

if TYPE_CHECKING:
    from weighbeam.cli.score.page import PageTable
    from weighbeam.engine.scoring import ScoreResult
    from weighbeam.mechanism.base import Mechanism
    from weighbeam.senses.local import LocalSenses
    from weighbeam.senses.ports.protocols import Senses


@dataclass(frozen=True, slots=True)
class ScoreCall:
    """The options that all mechanisms share."""

    mechanism: "Mechanism"
    file: Path
    as_json: bool
    explain: bool
    only: list[str]
    overrides: Mapping[str, Any]
    embedder: str | None
    html: Path | None = None

    @property
    def explains(self) -> bool:
        return self.explain or bool(self.only)

    def load_question(self) -> Any:
        from weighbeam.engine.support.json_files import load_json

        return load_json(self.file)

    @contextmanager
    def open_senses(self, **named: Any) -> Iterator["LocalSenses"]:
        """Senses with the embedder of the options; `named` are other options of `LocalSenses`."""
        from weighbeam.cli.common.progress import open_senses
        from weighbeam.senses.local import DEFAULT_EMBEDDER

        with open_senses(self.embedder or DEFAULT_EMBEDDER, **named) as senses:
            yield senses

    def score(self, question: Any, senses: "Senses") -> "ScoreResult":
        """Score the answers as a round would; an answer that --only names must be there."""
        from weighbeam.cli.score.tables import check_hotkeys
        from weighbeam.engine.question_keys import describe_unread
        from weighbeam.engine.scoring import score_question

        result = score_question(self.mechanism, question, senses, self.overrides)
        check_hotkeys(result, self.only)
        unread = describe_unread(self.mechanism.question_keys, question)
        if unread and not self.as_json:
            typer.echo(f"warning: {make_printable(unread, MAX_WARNING)}", err=True)
        return result


class ScoreCommand:
    """How a mechanism is scored from the command line, and how its scores and answers look on a terminal.

    A mechanism overrides what it does differently, and registers the class as entry point `weighbeam.score`. `run` may
    take more parameters, each with a default: they become options of the command, and its docstring becomes the help.
    """

    file_help: str = "A JSON question."
    embedder: str | None = "minilm-fp32"
    embedder_help: str = "minilm-fp32, minilm-int8, st:MODEL or openai:MODEL@URL."

    def run(self, call: ScoreCall) -> None:
        """Score the answers of a JSON question."""
        with call.open_senses() as senses:
            result = call.score(call.load_question(), senses)
        self.report(call, result)

    def report(self, call: ScoreCall, result: "ScoreResult", extra: Mapping[str, Any] | None = None) -> None:
        """Print the scores, as JSON or for people; `extra` is added to the JSON, and `show` gets it."""
        from weighbeam.cli.score.tables import print_dim, show_trees

        saved = {}
        if call.html is not None:
            from weighbeam.cli.score.page import save_page

            saved["html"] = save_page(result, call.html, call.file.stem, call.only, self.list_tables(result))
        if call.as_json:
            print_json({**result.report(), **(extra or {}), **saved})
            return
        self.show(result, extra or {}, hint=not call.explains)
        if saved:
            print_dim(f"page: {saved['html']}")
        if call.explains:
            show_trees(result, call.only)

    def show(self, result: "ScoreResult", extra: Mapping[str, Any], hint: bool) -> None:  # noqa: ARG002
        """Print a table of the scores, of a question or of a recorded round; `hint` mentions --explain."""
        from weighbeam.cli.score.tables import show_scores

        show_scores(result)

    def list_tables(self, result: "ScoreResult") -> "list[PageTable]":  # noqa: ARG002
        """Further tables of the page that `--html` writes; none, unless overridden."""
        return []

    def show_answer(self, payload: Mapping[str, Any]) -> None:
        """Print the answer that `weighbeam ask` got, each value on a line, long ones shortened."""
        for name, value in payload.items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            typer.echo(f"{make_printable(str(name), MAX_NAME)}: {make_printable(text, MAX_VALUE)}")
