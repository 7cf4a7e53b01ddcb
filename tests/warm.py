"""Run `weighbeam` as a process of its own, forked from one that has loaded the libraries but nothing of weighbeam.

For whoever asks what a command says, does and how it ends; `command.weighbeam` starts as users do.
"""

import gc
import importlib
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

LIBRARIES = (
    "alembic.command", "fastapi", "httpx2", "numpy", "pydantic_settings", "rich.table", "sqlalchemy",
    "sqlalchemy.dialects.sqlite", "tokenizers", "typer", "typer.main", "uvicorn",
)  # fmt: skip
SECONDS = 240


def weighbeam_warm(*arguments: object, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as folder:
        said = [Path(folder, name) for name in ("stdout", "stderr")]
        request = {
            "arguments": list(map(str, arguments)),
            "environment": {**os.environ, **environment},
            "cwd": str(cwd or Path.cwd()),
            "said": list(map(str, said)),
        }
        server = start_server()
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        return subprocess.CompletedProcess(arguments, code, *(path.read_text() for path in said))


@cache
def start_server() -> subprocess.Popen[str]:
    """It ends when the tests do: its input ends."""
    return subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )


def serve() -> None:
    for name in LIBRARIES:
        importlib.import_module(name)
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "only a process of one thread can be forked"
    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            return become(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    return None


def become(request: dict[str, Any]) -> None:
    """Be the command, as if just started: its words, its environment, its output, its end."""
    signal.alarm(SECONDS)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    for number, path in enumerate([os.devnull, *request["said"]]):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT), number)
    sys.argv = ["weighbeam", *request["arguments"]]
    sys.path[0] = ""
    runpy.run_module("weighbeam", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    serve()
