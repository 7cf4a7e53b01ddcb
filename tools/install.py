"""Run pip and show what it does: `python tools/install.py TITLE CONSTRAINTS -- PIP_ARGUMENTS`.

On a terminal one line shows the package at hand; elsewhere a line is printed now and then. What pip says is shown only
if it fails. `make` runs this before anything is installed, so it uses the standard library alone.
"""

import queue
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

AT_HAND = re.compile(r"^(Collecting|Installing collected packages|Building|Preparing metadata)\b:? *([\w.-]*)")
PLAIN_SECONDS = 10.0
WIDTH = 79
LAST_LINES = 30


class Meter:
    """One line that is written again on a terminal; a line every ten seconds elsewhere."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.begun = self.shown = time.monotonic()
        self.seen = 0
        self.text = "starting"
        self.live = sys.stdout.isatty()

    def follow(self, line: str) -> None:
        found = AT_HAND.match(line.strip())
        if found is not None:
            self.seen += found[1] == "Collecting"
            unpacking = found[1].startswith("Installing")
            self.text = f"unpacking {self.seen} packages" if unpacking else f"package {self.seen}, {found[2]}"

    def tick(self) -> None:
        now = time.monotonic()
        if self.live or now - self.shown > PLAIN_SECONDS:
            self.shown = now
            shown = f"{self.title}: {self.text}"[: WIDTH - 7] + f" {now - self.begun:4.0f} s"
            print(f"\r{shown:<{WIDTH}}" if self.live else shown, end="" if self.live else "\n", flush=True)

    def end(self, text: str) -> None:
        print(("\r" if self.live else "") + f"{self.title}: {text}".ljust(WIDTH if self.live else 0), flush=True)


def read_lines(stream: Iterable[str]) -> Iterator[str]:
    """Its lines, and an empty one for every second without any."""
    lines: queue.Queue[str | None] = queue.Queue()

    def fill() -> None:
        for line in stream:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=fill, daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=1.0)
        except queue.Empty:
            yield ""
            continue
        if line is None:
            return
        yield line


def run(title: str, constraints: Path, arguments: list[str]) -> int:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "-c", str(constraints)]
    meter, said = Meter(title), []
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        with subprocess.Popen(
            [*command, "--progress-bar", "off", *arguments], stdout=subprocess.PIPE, stderr=errors, text=True
        ) as pip:
            assert pip.stdout is not None
            for line in read_lines(pip.stdout):
                if line:
                    said.append(line)
                    meter.follow(line)
                meter.tick()
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
