"""How many files a reader passes on six walks through the code: `python -m benchmarks.walks`.

Each walk runs once, in a process of its own, and every function it enters is noted. Bodies of modules and of classes
and comprehensions do not count. `python -m benchmarks.walks page --list` runs one walk and lists its files.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "weighbeam"
COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}


class Trace:
    """The functions of Weighbeam that were entered while it was on."""

    def __init__(self) -> None:
        self._seen: set[CodeType] = set()
        self._on = False

    def note(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and self._on:
            self._seen.add(frame.f_code)

    @contextmanager
    def on(self, here: bool = True) -> Iterator[None]:
        """Note what threads do that started after the trace was made; and what this one does, if `here`."""
        self._on = True
        sys.setprofile(self.note if here else None)
        try:
            yield
        finally:
            sys.setprofile(None)
            self._on = False

    def list_functions(self) -> list[tuple[str, str]]:
        """File, from the package on, and name of each."""
        prefix = f"{SOURCE}{os.sep}"
        return sorted(
            (code.co_filename.removeprefix(prefix), code.co_qualname)
            for code in self._seen
            if code.co_filename.startswith(prefix)
            and code.co_filename.endswith(".py")
            and code.co_flags & CO_OPTIMIZED
            and code.co_name not in COMPREHENSIONS
        )


def start_trace() -> Trace:
    """Threads that start from now on are traced, others are not."""
    trace = Trace()
    threading.setprofile(trace.note)
    return trace


def walk_round(folder: Path) -> Trace:
    """A task to its confirmed weights: three miners on a local chain."""
    from engine.subnet import HONEST, open_subnet
    from weighbeam.senses.local import LocalSenses

    with open_subnet(folder, LocalSenses()) as subnet:
        runner, trace = subnet.runner(only=HONEST), start_trace()

        async def play() -> Any:
            await runner.play_round()
            return await runner.weigh_in()

        with trace.on():
            weighed = asyncio.run(play())
    assert weighed.submission.state == "confirmed"
    return trace


def walk_miner(folder: Path) -> Trace:
    """A miner's request over HTTP to its signed reply."""
    import httpx2

    from network.loopback import ALICE, BOB, serve_miner
    from weighbeam.mechanisms.chunking.documents import generate_document
    from weighbeam.mechanisms.chunking.miners.handlers import honest_miner
    from weighbeam.network.signing_dialects import Btauth, OutgoingRequest
    from weighbeam.senses.local import LocalSenses

    task = {"document": generate_document("walk", 1500).text, "chunk_size": 600, "chunk_qty": 9}
    body = json.dumps({"round": "r1", "task": task, "deadline_seconds": 20.0}).encode()
    path, trace = "/weighbeam/1/chunking/ask", start_trace()
    with serve_miner(honest_miner("sentences", LocalSenses()), folder) as endpoint:
        outgoing = OutgoingRequest("POST", path, body, str(time.time_ns()), BOB.address)
        headers = Btauth().sign(ALICE, outgoing).headers
        with trace.on(here=False):
            reply = httpx2.post(f"http://{endpoint}{path}", content=body, headers=headers, timeout=30)
    assert reply.status_code == 200, reply.text
    return trace


def walk_score(_: Path) -> Trace:
    """`weighbeam score chunking FILE --explain`."""
    from weighbeam.cli.main import app

    trace = start_trace()
    try:
        with trace.on():
            app(["score", "chunking", str(ROOT / "examples/chunking.json"), "--explain"])
    except SystemExit as ended:
        if ended.code:
            raise
    return trace


def walk_novelty(folder: Path) -> Trace:
    """A submission to the novelty desk over HTTP."""
    from service.novelty_api import OTTERS, open_api
    from weighbeam.senses.local import LocalSenses

    trace = start_trace()
    with open_api(folder, LocalSenses()) as api, trace.on(here=False):
        reply = api.submit("ada", OTTERS)
    assert reply.status_code < 300, reply.text
    return trace


def walk_backtest(_: Path) -> Trace:
    """A backtest of the golden journal, with one parameter changed."""
    from lab.golden_journal import backtest

    trace = start_trace()
    with trace.on():
        backtest({"chunking": {"curve": 0.6}})
    return trace


def walk_page(folder: Path) -> Trace:
    """The leaderboard, as `weighbeam serve` shows it; the time on it is that of the local chain."""
    import httpx2

    from service.holders import bear
    from service.whole_apps import fill, open_served

    loaded, trace = fill(folder), start_trace()
    with open_served(loaded) as url, trace.on(here=False):
        reply = httpx2.get(f"{url}/mechanisms/chunking", headers=bear("all"), timeout=60)
    assert reply.status_code == 200, reply.text
    return trace


WALKS: dict[str, Callable[[Path], Trace]] = {
    "round": walk_round,
    "miner": walk_miner,
    "score": walk_score,
    "novelty": walk_novelty,
    "backtest": walk_backtest,
    "page": walk_page,
}


def follow(name: str) -> list[tuple[str, str]]:
    """Run a walk in this process, with the models in the cache but no vectors; gives the functions it entered."""
    from weighbeam.senses.local import LocalSenses

    LocalSenses().embedder.embed(["warm"])
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        return WALKS[name](Path(folder)).list_functions()


def follow_apart(name: str) -> list[tuple[str, str]]:
    """Run a walk in a process of its own, with the helpers of the tests at hand."""
    places = [str(SOURCE.parent), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "functions.json"
        command = [sys.executable, "-m", "benchmarks.walks", "--follow", name, str(found)]
        own = {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(places), "WEIGHBEAM_CACHE": folder}
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, **own}, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr)
        return [(file, function) for file, function in json.loads(found.read_text())]


def main(*words: str) -> None:
    if words[:1] == ("--follow",):
        Path(words[2]).write_text(json.dumps(follow(words[1])))
        return
    for name in [word for word in words if word in WALKS] or WALKS:
        functions = follow_apart(name)
        files = sorted({file for file, _ in functions})
        folders = {str(Path(file).parent) for file in files}
        about = (WALKS[name].__doc__ or "").splitlines()[0]
        print(
            f"{name:9} {len(functions):4} functions {len(files):4} files {len(folders):3} folders  {about}", flush=True
        )
        if "--list" in words:
            print(*(f"    {file}" for file in files), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
