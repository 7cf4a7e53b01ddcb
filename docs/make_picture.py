"""Draw docs/score.svg: what `make demo` prints, as a picture."""

import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

COMMAND = ["score", "chunking", "examples/chunking.json", "--chunker", "all", "--only", "word-inventor"]
WIDTH = 92


def main() -> None:
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(WIDTH), "TERM": "xterm-256color"}
    done = subprocess.run(
        [sys.executable, "-m", "weighbeam", *COMMAND], capture_output=True, text=True, env=environment, check=True
    )
    with Path(os.devnull).open("w") as nowhere:
        console = Console(record=True, width=WIDTH, file=nowhere)
        console.print(Text("$ weighbeam " + " ".join(COMMAND), "bold"))
        console.print(Text.from_ansi(done.stdout))
        svg = console.export_svg(title="weighbeam score", unique_id="weighbeam")
    without_fonts = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S)
    Path(__file__).with_name("score.svg").write_text(without_fonts.replace("Fira Code", "DejaVu Sans Mono"))


if __name__ == "__main__":
    main()
