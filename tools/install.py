"""Run pip and show what it does: `python tools/install.py TITLE CONSTRAINTS -- PIP_ARGUMENTS`.

On a terminal one line shows the package at hand; elsewhere a line is printed now and then. What pip says is shown only
if it fails. `make` runs this before anything is installed, so it uses the standard library alone.
"""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

AT_HAND = re.compile(r"^(Collecting|Installing collected packages|Building|Preparing metadata)\b:? *([\w.-]*)")
PLAIN_SECONDS = 10.0
WIDTH = 79
LAST_LINES = 30


class Meter:
    """One line that is written again on a terminal; a line every ten seconds elsewhere."""

    def __init__(self, title: str, known: int) -> None:
        self.title, self.known = title, known
        self.begun = self.shown = time.monotonic()
        self.seen = 0
        self.live = sys.stdout.isatty()

    def follow(self, line: str) -> None:
        found = AT_HAND.match(line.strip())
        if found is None:
            return
        self.seen += found[1] == "Collecting"
        now = time.monotonic()
        if found[1].startswith("Installing"):
            self._write(f"{self.title}: unpacking {self.seen} packages", now)
        elif self.live or now - self.shown > PLAIN_SECONDS:
            self._write(f"{self.title}: {self.seen} of about {self.known}, {found[2]}", now)

    def _write(self, text: str, now: float) -> None:
        self.shown = now
        shown = f"{text[: WIDTH - 7]} {now - self.begun:4.0f} s"
        print(f"\r{shown:<{WIDTH}}" if self.live else shown, end="" if self.live else "\n", flush=True)

    def end(self, text: str) -> None:
        print(("\r" if self.live else "") + f"{self.title}: {text}".ljust(WIDTH if self.live else 0), flush=True)


def run(title: str, constraints: Path, arguments: list[str]) -> int:
    known = sum("==" in line for line in constraints.read_text("utf-8").splitlines())
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-c", str(constraints)]
    meter, said = Meter(title, known), []
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        with subprocess.Popen(
            [*command, "--progress-bar", "off", *arguments], stdout=subprocess.PIPE, stderr=errors, text=True
        ) as pip:
            assert pip.stdout is not None
            for line in pip.stdout:
                said.append(line)
                meter.follow(line)
        errors.seek(0)
        if pip.returncode:
            meter.end("failed")
            sys.stderr.write("".join([*said[-LAST_LINES:], *errors.readlines()[-LAST_LINES:]]))
        else:
            meter.end(f"done in {time.monotonic() - meter.begun:.0f} s")
    return pip.returncode


if __name__ == "__main__":
    divider = sys.argv.index("--")
    sys.exit(run(sys.argv[1], Path(sys.argv[2]), sys.argv[divider + 1 :]))
