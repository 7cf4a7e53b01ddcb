"""Write docs/start/demo.md, what `weighbeam demo` prints, and its summary into the README.

On a busy machine it tries again.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS, README = ROOT / "docs", ROOT / "README.md"
TRIES = 5
PAGE = """# What the demo prints

`weighbeam demo` runs a whole subnet on this machine, and `make demo` runs it after scoring the
sample chunkings. On a terminal one live line stands in place of the lines for each round. Whose
reply is late is chance, so runs differ a little.

```text
$ weighbeam demo
{shown}```

## The details

`weighbeam demo --details` prints a table for each mechanism before the summary. A demo that keeps
its folder writes them to `details.txt` in it.

```text
{details}```
"""


def run_demo() -> tuple[str, str]:
    """What it prints on its way and at the end, and the details between them."""
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "weighbeam", "demo", "--details"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    begin = done.stdout.index("Earnings, in %")
    if done.returncode or " void" in done.stderr + done.stdout:
        raise RuntimeError(done.stderr + done.stdout[begin:])
    return clean(done.stderr + "\n" + done.stdout[begin:]), clean(done.stdout[:begin])


def clean(printed: str) -> str:
    """Without this machine's paths, with the usual port, and without blanks that nobody sees."""
    shown = re.sub(r"\S+/bin/weighbeam|\S+ -m weighbeam", "weighbeam", printed)
    shown = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:8484", shown)
    return "\n".join(line.rstrip() for line in shown.splitlines()).strip("\n") + "\n"


def try_demo() -> tuple[str, str]:
    for _ in range(TRIES):
        try:
            return run_demo()
        except RuntimeError as fault:
            print(fault, file=sys.stderr)
    raise SystemExit("this machine is too busy for a demo without a void round")


if __name__ == "__main__":
    shown, details = try_demo()
    (DOCS / "start/demo.md").write_text(PAGE.format(shown=shown, details=details), "utf-8")
    begin, end = shown.index("Earnings, in %"), shown.index("\nWhere to look next")
    block = f"<!-- demo -->\n```text\n{shown[begin:end]}```\n<!-- end -->"
    README.write_text(re.sub("<!-- demo -->.*?<!-- end -->", lambda _: block, README.read_text("utf-8"), flags=re.S))
