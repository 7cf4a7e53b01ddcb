"""Write docs/demo.md, what `weighbeam demo` prints, and the first table of it into the README."""

import os
import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parent
README = DOCS.parent / "README.md"
HEAD = """# What the demo prints

`weighbeam demo`, the second half of `make demo`, on two cores. Whose reply is late is chance, so runs
differ a little.

"""


def run_demo() -> str:
    environment = {**os.environ, "COLUMNS": "110", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "weighbeam", "demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        check=True,
    )
    return done.stdout


def clean(printed: str) -> str:
    """Without this machine's paths, and without blanks that nobody sees."""
    lines = re.sub(r"\S+/bin/weighbeam|\S+ -m weighbeam", "weighbeam", printed).splitlines()
    return "\n".join(line.rstrip() for line in lines).strip() + "\n"


def find_first_table(text: str) -> str:
    begin = text.index("chunking at block")
    end = text.index("\n", text.index("chunking: 5 honest"))
    return text[text.rindex("\n", 0, begin) + 1 : end]


if __name__ == "__main__":
    shown = clean(run_demo())
    (DOCS / "demo.md").write_text(f"{HEAD}```text\n$ weighbeam demo\n{shown}```\n", "utf-8")
    table = re.sub("\n\n+", "\n", find_first_table(shown))
    block = (
        f"<!-- demo -->\n```text\n{table}\n…\n{shown[shown.index('replay of') :].splitlines()[0]}\n```\n<!-- end -->"
    )
    README.write_text(re.sub("<!-- demo -->.*?<!-- end -->", lambda _: block, README.read_text("utf-8"), flags=re.S))
