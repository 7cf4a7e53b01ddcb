"""Draw what the docs show into docs/images: score.svg, a scoring on a terminal, and the pictures chunking-*.svg.

The pictures come from real runs: a sample document, cut by a chunker and scored here, and the two examples of the
mechanism's origin, twelve miners in groups of four and five miners on the curve.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.text import Text

import weighbeam
from weighbeam.charts.picture import ChartPicture, frame_picture
from weighbeam.charts.render import render_svg, squeeze_svg
from weighbeam.mechanism.page import BoardLine, StandingsBoard
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.pictures.board import draw_board

PICTURES = {
    "score": ["score", "chunking", "examples/chunking.json", "--chunker", "all", "--only", "word-inventor"],
}
WIDTH = 92
ROOT = Path(__file__).parents[2]
IMAGES, EXAMPLES = ROOT / "docs/images", ROOT / "examples"
CHUNKER, CHUNK_SIZE, SECONDS = "paragraphs", 1100, 4.5
"""An answer that came three quarters of a second late, so that there is a penalty to see."""
SEED_MINERS, SEED_GROUP, SEED_ASKED = 12, 4, 2
SEED_PAID = 5


def draw(name: str, command: list[str]) -> None:
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(WIDTH), "TERM": "xterm-256color"}
    done = subprocess.run(
        [sys.executable, "-m", "weighbeam", *command], capture_output=True, text=True, env=environment, check=True
    )
    with Path(os.devnull).open("w") as nowhere:
        console = Console(record=True, width=WIDTH, file=nowhere)
        console.print(Text("$ weighbeam " + " ".join(command), "bold"))
        console.print(Text.from_ansi(done.stdout))
        svg = console.export_svg(title=f"weighbeam {name}", unique_id=name)
    without_fonts = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S)
    (IMAGES / f"{name}.svg").write_text(without_fonts.replace("Fira Code", "DejaVu Sans Mono"))


def draw_sample() -> tuple[ChartPicture, ...]:
    """The sample document, cut and scored."""
    document = (EXAMPLES / "document.txt").read_text("utf-8")
    chunking, senses = weighbeam.load_mechanism("chunking"), weighbeam.LocalSenses()
    chunks = chunking.cut(document, senses, CHUNK_SIZE)[CHUNKER]
    answer = {"hotkey": CHUNKER, "chunks": chunks, "seconds": SECONDS}
    question = {"document": document, "chunk_size": CHUNK_SIZE, "answers": [answer]}
    return weighbeam.score(chunking, question, senses=senses).pictures(CHUNKER)


def draw_seed() -> Iterator[ChartPicture]:
    """Twelve miners in groups of four, of which the third is asked; five miners on the curve."""
    miners = [f"miner {letter}" for letter in "ABCDEFGHIJKL"[:SEED_MINERS]]
    lines = [BoardLine(name, float(rank)) for rank, name in enumerate(miners)]
    start = SEED_ASKED * SEED_GROUP // 2
    summary = {"group": SEED_ASKED, "groups": 2 * SEED_MINERS // SEED_GROUP - 1}
    asked = miners[start : start + SEED_GROUP]
    yield draw_board(ChunkingParams(group_size=SEED_GROUP), StandingsBoard(lines, "7", asked, summary))[0]
    yield draw_board(ChunkingParams(), StandingsBoard(lines[:SEED_PAID]))[1]


def save(picture: ChartPicture) -> None:
    svg = squeeze_svg(render_svg(frame_picture(picture)))
    (IMAGES / f"chunking-{picture.name}.svg").write_text(svg + "\n")


if __name__ == "__main__":
    for name, arguments in PICTURES.items():
        draw(name, arguments)
    for picture in (*draw_sample(), *draw_seed()):
        save(picture)
