"""`weighbeam score chunking`: a question in JSON, or a document with chunkings or chunkers."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weighbeam.cli.common.shell import make_printable
from weighbeam.cli.score.command import ScoreCall, ScoreCommand

if TYPE_CHECKING:
    from weighbeam.engine.scoring import ScoreResult


class ScoreChunking(ScoreCommand):
    """Options that build a question, and a table of chunkings side by side."""

    file_help = "A JSON question, or a document as text or Markdown."

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
    ) -> None:
        """Score chunkings of a document: a JSON question, or a text with --chunks or --chunker."""
        from weighbeam.mechanisms.chunking.ui.question import add_chunkers, gather_question

        limits = {"chunk_size": chunk_size, "chunk_qty": chunk_qty, "time_soft_max": time_soft_max, "seed": seed}
        question = gather_question(call.file, chunks, limits)
        with call.open_senses() as senses:
            add_chunkers(question, chunker or [], senses, timed)
            result = call.score(question, senses)
        self.report(call, result)

    def show(self, result: "ScoreResult", extra: Mapping[str, Any], hint: bool) -> None:
        from weighbeam.mechanisms.chunking.ui.table import show_chunking

        show_chunking(result.report(), hint)

    def show_answer(self, payload: Mapping[str, Any]) -> None:
        for number, chunk in enumerate(payload.get("chunks", []), 1):
            typer.echo(f"{number:>4}  {make_printable(str(chunk), 100)}")
