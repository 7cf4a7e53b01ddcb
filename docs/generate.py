"""Write the parts of the docs that follow from the code: docs/cli.md and the parameter table. `make docs` runs it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from weighbeam.engine.alerts import REMEDIES
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.contract import Params
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.settings.load import Settings
from weighbeam.settings.model import MechanismSection

DOCS = Path(__file__).parent
PARAMETERS: dict[str, type[Params]] = {
    "chunking": ChunkingParams,
    "evidence": EvidenceParams,
    "inference": InferenceParams,
}
COMMANDS = (
    "", "demo", "validator", "miner", "serve", "ask", "score chunking", "score inference", "score evidence", "rounds",
    "round", "leaderboard", "weights", "alerts", "copies", "miner-report", "replay", "config show", "vectors run",
    "doctor",
)  # fmt: skip


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


def write_parameters(params: type[Params] = ChunkingParams) -> str:
    """The table of a mechanism's parameters."""
    rows = ["| name | default | meaning |", "| --- | --- | --- |"]
    for name, field in params.model_fields.items():
        default = "null" if field.default is None else str(field.default).lower()
        rows.append(f"| `{name}` | {default} | {field.description} |")
    return "\n".join(rows)


def write_settings() -> str:
    """The table of settings."""
    rows = ["| setting | default | meaning |", "| --- | --- | --- |"]
    for section, field in Settings.model_fields.items():
        kind = MechanismSection if section == "mechanisms" else field.annotation
        place = "mechanisms.NAME" if section == "mechanisms" else section
        for name, inner in kind.model_fields.items():
            default = inner.get_default(call_default_factory=True)
            shown = json.dumps(list(default) if isinstance(default, tuple) else default, default=str)
            rows.append(f"| `{place}.{name}` | `{shown}` | {inner.description} |")
    return "\n".join(rows)


def write_alerts() -> str:
    """The table of alerts."""
    rows = ["| alert | what to do |", "| --- | --- |"]
    return "\n".join([*rows, *(f"| `{code}` | {remedy} |" for code, remedy in REMEDIES.items())])


def fill(page: str, name: str, content: str) -> str:
    pattern = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
    return re.sub(pattern, lambda m: f"{m[1]}{content}\n{m[2]}", page, flags=re.S)


def main() -> None:
    (DOCS / "cli.md").write_text(write_commands())
    for name, params in PARAMETERS.items():
        page = DOCS / f"{name}.md"
        page.write_text(fill(page.read_text(), "parameters", write_parameters(params)))
    page = DOCS / "run.md"
    page.write_text(fill(fill(page.read_text(), "settings", write_settings()), "alerts", write_alerts()))


if __name__ == "__main__":
    main()
