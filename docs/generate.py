"""Write the parts of the docs that follow from the code: docs/cli.md and the parameter table. `make docs` runs it."""

import os
import re
import subprocess
import sys
from pathlib import Path

from weighbeam.mechanisms.chunking.params import ChunkingParams

DOCS = Path(__file__).parent
COMMANDS = ("", "demo", "score chunking", "rounds", "leaderboard", "miner-report", "replay", "vectors run", "doctor")


def write_commands() -> str:
    """Every command's help."""
    parts = ["# Commands\n\nWritten by `make docs` from the program itself.\n"]
    for command in COMMANDS:
        environment = {**os.environ, "COLUMNS": "100", "TERMINAL_WIDTH": "100"}
        done = subprocess.run(
            [sys.executable, "-m", "weighbeam", *command.split(), "--help"],
            capture_output=True,
            text=True,
            env=environment,
            check=True,
        )
        parts.append(f"\n## weighbeam {command}".rstrip() + f"\n\n```text\n{done.stdout.strip()}\n```\n")
    return "".join(parts)


def write_parameters() -> str:
    """The table of chunking parameters."""
    rows = ["| name | default | meaning |", "| --- | --- | --- |"]
    for name, field in ChunkingParams.model_fields.items():
        default = "null" if field.default is None else str(field.default).lower()
        rows.append(f"| `{name}` | {default} | {field.description} |")
    return "\n".join(rows)


def fill(page: str, content: str) -> str:
    return re.sub(r"(<!-- parameters -->\n).*?(<!-- end -->)", lambda m: f"{m[1]}{content}\n{m[2]}", page, flags=re.S)


def main() -> None:
    (DOCS / "cli.md").write_text(write_commands())
    page = DOCS / "chunking.md"
    page.write_text(fill(page.read_text(), write_parameters()))


if __name__ == "__main__":
    main()
