"""Attack a real miner, a real `weighbeam serve` and a validator's asker, and call them honestly meanwhile.

`python tests/network/hostile_campaign.py [NAME …]` plays every attack, or those named. An attack fails if an honest
call beside it is not answered, or takes longer than twice its quiet time and 0.1 s (medians of the same minute); if the
process attacked needs more memory than its cap; or if it does not answer afterwards. Loopback only.
"""

import asyncio
import json
import multiprocessing
import os
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import IO, Any, Literal, cast

sys.path.insert(0, str(Path(__file__).parent.parent))

from network.hostile_replies import HOSTILE, REPLIES, serve_hostile
from network.hostile_requests import KNOCKS, Place, knock
from network.loopback import ALICE, BOB
from network.raw_http import CLOCK, connect, read_reply
from service.holders import place as keep_token
from service.holders import show
from weighbeam.chain.local.administer import register
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.network.keys import Hotkey
from weighbeam.network.signatures import sign_request
from weighbeam.store.database import Store

Kind = Literal["miner", "serve", "asker"]
DAVE = Hotkey.from_uri("//Dave")
"""The validator that asks honestly."""
HONEST_ADDRESS = "127.0.0.9"
FILES = 1024
"""As many as most systems give a process."""
MORE_MEMORY = 128
"""MiB above the quiet process."""
MINER_PATH, SERVE_PATH, BODY_PATH = "/weighbeam/1/chunking/ask", "/v1/novelty/treasury", "/v1/novelty/check"
QUIET_CALLS, BESIDE_CALLS, ROUNDS_BESIDE = 7, 9, 3
SETTLE_SECONDS, CALL_SECONDS, START_SECONDS = 0.4, 5.0, 120.0
FACTOR, SLACK_SECONDS = 2.0, 0.1
UNFIT = {
    "serve": ("replayed request", "stale request", "wrong signature", "unregistered key"),
    "miner": ("made-up tokens",),
}
"""Attacks that mean nothing to a target: requests to it are not signed, or have no token."""
SHORT = (
    ("miner", "tiny chunks"), ("miner", "1,000 connections"), ("miner", "node bomb"), ("miner", "3,000 headers"),
    ("miner", "wrong signature"), ("serve", "pipelined requests"), ("serve", "made-up tokens"),
    ("serve", "tiny chunks"),
    ("asker", "endless interim replies"), ("asker", "node bomb"), ("asker", "slow body"), ("asker", "tiny chunks"),
)  # fmt: skip
"""Of every kind the attack that once succeeded, for `make test`."""
FORKED = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Verdict:
    """One attack and what it did. Seconds are medians, memory is in MiB."""

    kind: Kind
    name: str
    quiet: float
    beside: float
    memory: int
    cap: int
    faults: tuple[str, ...]

    def __str__(self) -> str:
        told = "held" if not self.faults else f"FAILED: {'; '.join(self.faults)}"
        return (
            f"{self.kind:6} {self.name:26} quiet {1000 * self.quiet:6.1f} ms  beside {1000 * self.beside:6.1f} ms  "
            f"memory {self.memory:4} of {self.cap} MiB  {told}"
        )


@dataclass
class Victim:
    """A process under attack, and how it is called honestly: seconds, or None if that failed."""

    kind: Kind
    process: "subprocess.Popen[str]"
    call: Callable[[], float | None]
    cap: int = field(init=False)

    def __post_init__(self) -> None:
        for _ in range(3):
            self.call()
        self.cap = self.measure_memory() + MORE_MEMORY

    def forget_memory(self) -> None:
        """Let the peak begin at what is used now, where the system can."""
        with suppress(OSError):
            Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def measure_memory(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) >> 10

    def call_often(self, times: int) -> list[float | None]:
        found = []
        for _ in range(times):
            found.append(self.call())
            time.sleep(0.05)
        return found

    def answers_again(self) -> bool:
        """Whether it answers within a few seconds after an attack."""
        return self.process.poll() is None and any(self.call() is not None for _ in range(5))


def exchange(port: int, request: bytes) -> float | None:
    """How long one honest call takes on a connection of its own."""
    start = time.monotonic()
    try:
        with connect(f"127.0.0.1:{port}", HONEST_ADDRESS) as caller:
            caller.settimeout(CALL_SECONDS)
            caller.sendall(request)
            status, _ = read_reply(caller)
    except OSError:
        return None
    return time.monotonic() - start if status == 200 else None


def ask_miner(port: int) -> float | None:
    task = {"document": "One sentence. Another one.", "chunk_size": 100, "chunk_qty": 5, "time_soft_max": 3.0}
    body = json.dumps({"round": "r", "task": task, "deadline_seconds": 3}).encode()
    shown = sign_request(DAVE, "POST", MINER_PATH, body, CLOCK.next(), BOB.address)[0]
    lines = "".join(f"{name}: {value}\r\n" for name, value in shown.items())
    head = f"POST {MINER_PATH} HTTP/1.1\r\nHost: a\r\n{lines}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return exchange(port, head.encode() + body)


def read_service(port: int) -> float | None:
    head = f"GET {SERVE_PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {show('honest')}\r\n"
    return exchange(port, head.encode() + b"Connection: close\r\n\r\n")


@dataclass
class AskingProcess:
    """The asker's process; asks the honest miner, and hostile ones beside it."""

    process: "subprocess.Popen[str]"
    honest: str
    hostile: Sequence[str] = ()
    spared: list[str] = field(default_factory=list)

    def ask(self) -> float | None:
        rows = [[BOB.address, self.honest], *([HOSTILE.address, endpoint] for endpoint in self.hostile)]
        cast("IO[str]", self.process.stdin).write(json.dumps(rows) + "\n")
        cast("IO[str]", self.process.stdin).flush()
        line = cast("IO[str]", self.process.stdout).readline()
        if not line:
            return None
        (status, _, seconds), *others = json.loads(line)
        self.spared += [f"{told} {why}" for told, why, _ in others if told == "validator_error"]
        return float(seconds) if status == "ok" else None


@contextmanager
def start(command: Sequence[str], log: Path) -> Iterator["subprocess.Popen[str]"]:
    """A Python program with as few files as most systems give, until it is left."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))

    path = os.pathsep.join([str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")])
    with log.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file, text=True,
            preexec_fn=limit, env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def wait_for(process: "subprocess.Popen[str]", log: Path, pattern: str) -> int:
    """The port that a log tells."""
    until = time.monotonic() + START_SECONDS
    while not (found := re.search(pattern, log.read_text())):
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"it does not serve: {log.read_text()[-2000:]}")
        time.sleep(0.05)
    return int(found[1])


@contextmanager
def start_miner(folder: Path) -> Iterator[tuple[Victim, Place]]:
    file = ChainFile.create(folder / "chain.sqlite", SubnetParameters(), manual=True)
    for hotkey in (ALICE, BOB, DAVE):
        register(file, hotkey.address)
    file.close()
    (folder / "miner.toml").write_text(
        f'[wallet]\nuri = "//Bob"\n[chain]\npath = "chain.sqlite"\n[miner]\nlisten = "127.0.0.1:0"\n'
        f'allow = ["{ALICE.address}", "{DAVE.address}"]\nper_minute = 1200\n[miner.answers]\nchunking = "sentences"\n'
    )
    log = folder / "miner.log"
    with start(["-m", "weighbeam", "run", "miner", "--config", str(folder / "miner.toml")], log) as process:
        port = wait_for(process, log, r"serves \S+ on 127\.0\.0\.1:(\d+)")
        time.sleep(2.1)  # A nonce store that began empty refuses what may be older than it.
        yield Victim("miner", process, lambda: ask_miner(port)), Place(port, MINER_PATH, None)


@contextmanager
def start_service(folder: Path) -> Iterator[tuple[Victim, Place]]:
    store = Store(f"sqlite:///{folder / 'novelty.db'}")
    for name in ("honest", "hostile"):
        keep_token(store, name, ("check", "read"))
    store.close()
    (folder / "serve.toml").write_text(
        '[wallet]\nuri = "//Alice"\n[store]\nurl = "sqlite:///novelty.db"\n[service]\nlisten = "127.0.0.1:0"\n'
        "per_minute = 60000\n[novelty]\nper_minute = 60000\n"
    )
    log = folder / "serve.log"
    with start(["-m", "weighbeam", "serve", "--config", str(folder / "serve.toml")], log) as process:
        port = wait_for(process, log, r"served on http://127\.0\.0\.1:(\d+)")
        yield Victim("serve", process, lambda: read_service(port)), Place(port, BODY_PATH, show("hostile"))


@contextmanager
def play_knock(name: str, place: Place, seconds: float) -> Iterator[None]:
    """An attack on a server, in a process of its own so that it takes no turns from the honest caller."""
    attacker = FORKED.Process(target=lambda: asyncio.run(knock(KNOCKS[name], place, seconds)), daemon=True)
    attacker.start()
    try:
        yield
    finally:
        attacker.kill()
        attacker.join()


@contextmanager
def play_replies(name: str) -> Iterator[list[str]]:
    """Hostile miners in a process of their own; gives where they are, two hotkeys to an address."""
    here, there = FORKED.Pipe()

    def serve() -> None:
        asyncio.run(_serve_replies(name, there))

    attacker = FORKED.Process(target=serve, daemon=True)
    attacker.start()
    try:
        yield [endpoint for endpoint in here.recv() for _ in range(2)]
    finally:
        attacker.kill()
        attacker.join()


async def _serve_replies(name: str, there: "Connection[Any, Any]") -> None:
    async with serve_hostile(REPLIES[name]) as endpoints:
        there.send(endpoints)
        await asyncio.Event().wait()


def judge(
    victim: Victim, name: str, quiet: Sequence[float | None], beside: Sequence[float | None], spared: Sequence[str] = ()
) -> Verdict:
    """What an attack did, by the honest calls before it and beside it."""
    memory, alive = victim.measure_memory(), victim.answers_again()
    calm, slow = ([one for one in calls if one is not None] for calls in (quiet, beside))
    usual, found = median(calm or [0.0]), median(slow or [CALL_SECONDS])
    tests = {
        "no honest call was answered before": bool(calm),
        f"{len(beside) - len(slow)} of {len(beside)} honest calls were not answered": len(slow) == len(beside),
        "honest calls were slow": found <= FACTOR * usual + SLACK_SECONDS,
        "too much memory": memory <= victim.cap,
        "it does not answer any more": alive,
        f"hostile miners were spared ({', '.join(sorted(set(spared)))})": not spared,
    }
    return Verdict(
        victim.kind, name, usual, found, memory, victim.cap, tuple(one for one, held in tests.items() if not held)
    )


def attack_server(victim: Victim, place: Place, name: str) -> Verdict:
    quiet = victim.call_often(QUIET_CALLS)
    victim.forget_memory()
    with play_knock(name, place, 60.0):
        time.sleep(SETTLE_SECONDS)
        beside = victim.call_often(BESIDE_CALLS)
    return judge(victim, name, quiet, beside)


def attack_asker(victim: Victim, asking: AskingProcess, name: str) -> Verdict:
    asking.hostile, asking.spared = (), []
    quiet = victim.call_often(QUIET_CALLS)
    victim.forget_memory()
    with play_replies(name) as asking.hostile:
        beside = victim.call_often(ROUNDS_BESIDE)
    asking.hostile = ()
    return judge(victim, name, quiet, beside, asking.spared)


def list_attacks(names: Sequence[str] = ()) -> list[tuple[Kind, str]]:
    kinds: tuple[Kind, ...] = ("miner", "serve")
    found: list[tuple[Kind, str]] = [(kind, name) for kind in kinds for name in KNOCKS if name not in UNFIT[kind]]
    found += [("asker", name) for name in REPLIES]
    return [(kind, name) for kind, name in found if not names or name in names or f"{kind}:{name}" in names]


def run_campaign(attacks: Sequence[tuple[str, str]], tell: Callable[[str], None] = print) -> list[Verdict]:
    """The verdicts on these attacks, one after the other; every process is stopped at the end."""
    verdicts: list[Verdict] = []
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        miner, miner_place = stack.enter_context(start_miner(folder))
        places = {"miner": (miner, miner_place)}
        if any(kind == "serve" for kind, _ in attacks):
            places["serve"] = stack.enter_context(start_service(folder))
        program = [str(Path(__file__).with_name("hostile_asker.py"))]
        asker = stack.enter_context(start(program, folder / "asker.log"))
        asking = AskingProcess(asker, f"127.0.0.1:{miner_place.port}")
        validator = Victim("asker", asker, asking.ask)
        for kind, attack in attacks:
            if kind == "asker":
                verdict = attack_asker(validator, asking, attack)
            else:
                verdict = attack_server(*places[kind], attack)
            verdicts.append(verdict)
            tell(str(verdict))
    return verdicts


def main(names: Sequence[str]) -> int:
    attacks = list_attacks(names)
    if not attacks:
        print(f"no such attack; there are: {', '.join(dict.fromkeys(name for _, name in list_attacks()))}")
        return 2
    began = time.monotonic()
    verdicts = run_campaign(attacks)
    failed = [verdict for verdict in verdicts if verdict.faults]
    distinct = len({verdict.name for verdict in verdicts})
    print(
        f"{len(verdicts)} attacks, {distinct} of them distinct, on {socket.gethostname()} in "
        f"{time.monotonic() - began:.0f} s: {len(verdicts) - len(failed)} held, {len(failed)} failed"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
