"""`weighbeam score inference`: scores with a heatmap and a narrative."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weighbeam.cli.score.command import ScoreCall, ScoreCommand

if TYPE_CHECKING:
    from weighbeam.engine.scoring import ScoreResult


class ScoreInference(ScoreCommand):
    """Options that draw and tell a round, and a table with consensus and emission."""

    def run(
        self,
        call: ScoreCall,
        heatmap: Annotated[
            Path | None, typer.Option(help="Draw how alike the answers are: a .png, .svg or .html file.")
        ] = None,
        narrative: Annotated[bool, typer.Option("--narrative", help="Tell in words what happened.")] = False,
        narrator: Annotated[
            str, typer.Option(help="The narrator: deterministic, or openai:MODEL@URL.")
        ] = "deterministic",
    ) -> None:
        """Score free-text answers to a prompt.

        By their quality and by how far they agree.
        """
        import secrets

        from weighbeam.app.senses import open_narrator
        from weighbeam.cli.common.picture import save_picture

        teller = open_narrator(narrator)
        with call.open_senses() as senses:
            result = call.score(call.load_question(), senses)
        extra: dict[str, Any] = {}
        if heatmap is not None:
            extra["heatmap"] = save_picture(result.draw(call.file.stem), heatmap)
        if narrative:
            told = result.tell(extra.get("heatmap"), teller, secrets.token_hex(8))
            extra |= {"narrative": told.text, "narrator": told.by}
        self.report(call, result, extra)

    def show(self, result: "ScoreResult", extra: Mapping[str, Any], hint: bool) -> None:
        from weighbeam.cli.score.tables import show_narrative
        from weighbeam.mechanisms.inference.ui.table import show_inference

        show_inference(result.report(), extra.get("heatmap"))
        if "narrative" in extra:
            show_narrative(extra["narrative"])
