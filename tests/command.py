"""Run `weighbeam` as its users do: a process of its own."""

import os
import subprocess
import sys


def weighbeam(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "weighbeam", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env={**os.environ, **environment},
    )
