"""Draw docs/score.svg: what `make demo` prints first, as a picture."""

import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

PICTURES = {
    "score": ["score", "chunking", "examples/chunking.json", "--chunker", "all", "--only", "word-inventor"],
}
WIDTH = 92


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
    Path(__file__).with_name(f"{name}.svg").write_text(without_fonts.replace("Fira Code", "DejaVu Sans Mono"))


if __name__ == "__main__":
    for picture, arguments in PICTURES.items():
        draw(picture, arguments)
