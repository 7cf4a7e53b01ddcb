"""`weighbeam score evidence`: options that name the pages, the lists and the judge."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weighbeam.cli.score.command import ScoreCall, ScoreCommand

if TYPE_CHECKING:
    from weighbeam.engine.scoring import ScoreResult


class ScoreEvidence(ScoreCommand):
    """Options that open the senses of a round, and a table with the outcome of each snippet."""

    def run(
        self,
        call: ScoreCall,
        archive: Annotated[
            str | None,
            typer.Option(
                help="Read pages from this folder or WARC file, not from the web; `embedded` is the sample's."
            ),
        ] = None,
        browser: Annotated[
            str | None, typer.Option(help="Read web pages as this browser shows them, such as chromium.")
        ] = None,
        lists: Annotated[Path | None, typer.Option(help="Folder of blacklist and approved list.")] = None,
        entailment: Annotated[str, typer.Option(help="nli-minilm or hf:MODEL.")] = "nli-minilm",
    ) -> None:
        """Score quotes from web pages about a statement."""
        from weighbeam.app.senses import find_web, make_live_settings

        question = call.load_question()
        named = question.get("archive") if isinstance(question, dict) else None
        place = archive or (str(named) if named else None)
        web = find_web(place, lists, call.file.parent, make_live_settings(browser=browser))
        with call.open_senses(entailment=entailment, **web) as senses:
            result = call.score(question, senses)
        self.report(call, result)

    def show(self, result: "ScoreResult", extra: Mapping[str, Any], hint: bool) -> None:
        from weighbeam.mechanisms.evidence.ui.table import show_evidence

        show_evidence(result.report(), hint)
