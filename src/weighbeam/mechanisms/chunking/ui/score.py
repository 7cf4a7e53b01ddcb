"""`weighbeam score chunking`: a question in JSON, or a document with chunkings or chunkers."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weighbeam.cli.common.shell import make_printable
from weighbeam.cli.score.command import ScoreCall, ScoreCommand

if TYPE_CHECKING:
    from weighbeam.cli.score.page import PageTable
    from weighbeam.engine.scoring import ScoreResult
    from weighbeam.senses.ports.protocols import Senses


class ScoreChunking(ScoreCommand):
    """Options that build a question, and a table of chunkings side by side."""

    file_help = "A JSON question, a document as text or Markdown, or a folder of documents."

    def run(
        self,
        call: ScoreCall,
        chunks: Annotated[Path | None, typer.Option(help="Folder of chunkings, one JSON file each.")] = None,
        chunker: Annotated[
            list[str] | None,
            typer.Option(
                help="Cut the document with this chunker: a name, `all` for every one installed, or FILE.py:function."
            ),
        ] = None,
        timed: Annotated[bool, typer.Option("--timed", help="Charge chunkers for the time they take.")] = False,
        chunk_size: Annotated[int | None, typer.Option(help="Most characters of a chunk.")] = None,
        chunk_qty: Annotated[int | None, typer.Option(help="Most chunks.")] = None,
        time_soft_max: Annotated[float | None, typer.Option(help="Seconds before time costs.")] = None,
        seed: Annotated[str | None, typer.Option(help="Seed of the sample of segments.")] = None,
        questions: Annotated[Path | None, typer.Option(help="Questions with gold spans, to measure retrieval.")] = None,
        k: Annotated[list[int] | None, typer.Option("--k", help="Chunks retrieved; may be repeated.")] = None,
        token_budget: Annotated[int | None, typer.Option(help="Tokens retrieved.")] = None,
    ) -> None:
        """Score chunkings of a document or a folder.

        A document needs --chunks or --chunker, a folder of documents --chunker; a JSON question may have answers.
        """
        from weighbeam.engine.support.json_files import is_folder
        from weighbeam.mechanisms.chunking.ui.comparison import load_questions, refuse_for_folder
        from weighbeam.mechanisms.chunking.ui.question import add_chunkers, gather_question

        limits: dict[str, Any] = {"chunk_size": chunk_size, "chunk_qty": chunk_qty, "time_soft_max": time_soft_max}
        limits |= {"seed": seed, "k": k or None, "token_budget": token_budget}
        if is_folder(call.file):
            refuse_for_folder({"--chunks": chunks, "--questions": questions, "--timed": timed or None})
            self._compare(call, limits, chunker or [])
            return
        question = gather_question(call.file, chunks, limits)
        question |= {} if questions is None else load_questions(questions)
        with call.open_senses() as senses:
            add_chunkers(question, chunker or [], senses, timed)
            result = call.score(question, senses)
        self.report(call, result)

    def _compare(self, call: ScoreCall, limits: Mapping[str, Any], names: list[str]) -> None:
        from weighbeam.cli.common.shell import print_json
        from weighbeam.mechanisms.chunking.ui.comparison import compare_folder
        from weighbeam.mechanisms.chunking.ui.retrieval_table import save_comparison, show_comparison

        with call.open_senses() as senses:
            judge = partial(_report, call, senses)
            comparison = compare_folder(call.file, limits, names, senses, judge)
        if call.html is not None:
            save_comparison(call.html, comparison)
        if call.as_json:
            print_json(comparison.as_json())
        else:
            show_comparison(comparison)

    def show(self, result: "ScoreResult", extra: Mapping[str, Any], hint: bool) -> None:
        from weighbeam.mechanisms.chunking.ui.retrieval_table import has_check, show_check
        from weighbeam.mechanisms.chunking.ui.table import show_chunking

        report = result.report()
        show_chunking(report, hint)
        if has_check(report):
            show_check(report)

    def list_tables(self, result: "ScoreResult") -> "list[PageTable]":
        from weighbeam.cli.score.page import PageTable
        from weighbeam.mechanisms.chunking.ui.retrieval_table import flatten_report, has_check, list_cells, title_check

        report = result.report()
        if not has_check(report):
            return []
        return [PageTable(title_check(report), *list_cells(flatten_report(report), "answer"))]

    def show_answer(self, payload: Mapping[str, Any]) -> None:
        for number, chunk in enumerate(payload.get("chunks", []), 1):
            typer.echo(f"{number:>4}  {make_printable(str(chunk), 100)}")


def _report(call: ScoreCall, senses: "Senses", question: Any) -> Mapping[str, Any]:
    return call.score(question, senses).report()
