"""`weighbeam score novelty`: texts in a round of their own, or against the corpus of a desk."""

from typing import Annotated

import typer

from weighbeam.cli.common.shell import print_json
from weighbeam.cli.score.command import ScoreCall, ScoreCommand


class ScoreNovelty(ScoreCommand):
    """An option that names a corpus, whose embedder is then the default."""

    embedder = None
    embedder_help = "Else the corpus's own."

    def run(
        self,
        call: ScoreCall,
        corpus: Annotated[
            str | None,
            typer.Option(help="Compare with this desk's store: its file or database URL; nothing is inserted."),
        ] = None,
    ) -> None:
        """Score texts by how new they are.

        In a round of their own, or with --corpus against what a desk holds.
        """
        if corpus is None:
            super().run(call)
            return
        from weighbeam.mechanisms.novelty.ui.corpus_scores import check_texts, parse_texts, show_rows

        rows = check_texts(corpus, parse_texts(call.load_question()), call.overrides, call.embedder)
        if call.as_json:
            print_json([row.as_json() for row in rows])
        else:
            show_rows(rows, call.explain)
