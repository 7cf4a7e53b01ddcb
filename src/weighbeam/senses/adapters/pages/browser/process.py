"""A browser process in namespaces of its own: confinement, start, memory watch and end.

The network namespace has no interface that is up, so no socket leads out of it; the browser is spoken to by pipes.
Its own sandbox stays on: it is built from user namespaces too, and a browser that cannot have it does not start.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.pages.browser.limits import RenderLimits
from weighbeam.senses.adapters.pages.outcome import PageTooLarge

PROC = Path("/proc")
PAUSE_SECONDS = 0.2
OWN = ("RssAnon:", "RssShmem:")


def list_descendants(pid: int) -> list[int]:
    """A process and everything started below it, parents first."""
    children: dict[int, list[int]] = defaultdict(list)
    for one, parent in _list_parents():
        children[parent].append(one)
    found = [pid]
    for one in found:
        found += children[one]
    return found


def measure_memory(pid: int) -> int:
    """Memory of a process and those below it, without the program files they share."""
    return sum(map(_own_bytes, list_descendants(pid)))


async def watch_memory(pid: int, limit: int) -> None:
    """Ends as `PageTooLarge` when there is more."""
    while True:
        await check_memory(pid, limit)
        await asyncio.sleep(PAUSE_SECONDS)


async def check_memory(pid: int, limit: int) -> None:
    if await asyncio.to_thread(measure_memory, pid) > limit:
        raise PageTooLarge("memory")


def _list_parents() -> Iterator[tuple[int, int]]:
    for folder in PROC.iterdir():
        if folder.name.isdigit():
            try:
                said = (folder / "stat").read_bytes()
            except OSError:
                continue
            yield int(folder.name), int(said[said.rindex(b")") :].split()[2])


def _own_bytes(pid: int) -> int:
    try:
        lines = (PROC / str(pid) / "status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(OWN))


NOBODY = 65534
NEEDED = ("sh", "nice", "unshare", "setpriv")
CONFINED = (
    *("unshare", "--map-current-user", "--net", "--ipc", "--pid", "--mount-proc", "--fork", "--kill-child"),
    *("setpriv", "--no-new-privs"),
)
BY_PIPES = 'ulimit -c 0; ulimit -d "$1"; ulimit -f "$2"; shift 2; exec "$@" 3<&0 4>&1 0</dev/null 1>/dev/null'
FLAGS = (
    "--headless",
    "--remote-debugging-pipe",
    "--no-startup-window",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--block-new-web-contents",
    "--mute-audio",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
    "--password-store=basic",
)
GONE_SECONDS = 5.0


class BrowserInstance:
    """A running browser with a folder of its own, which goes when it goes."""

    def __init__(self, process: Process, folder: Path) -> None:
        self._process, self._folder = process, folder
        assert process.stdin is not None
        assert process.stdout is not None
        self.writer, self.reader = process.stdin, process.stdout

    @property
    def pid(self) -> int:
        return self._process.pid

    async def end(self) -> None:
        """Kill the first process of its namespace: the kernel ends the others with it, and only then is it gone."""
        inside = await asyncio.to_thread(list_descendants, self.pid)
        _kill(inside[1] if len(inside) > 1 else self.pid)
        try:
            async with asyncio.timeout(GONE_SECONDS):
                await self._process.wait()
        except TimeoutError:
            _kill(self.pid)
            await self._process.wait()
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)


async def start_browser(program: str, user_agent: str, limits: RenderLimits) -> BrowserInstance:
    """A fresh browser without a past; `OSError` if there is none. Root gives its rights away first."""
    folder = Path(tempfile.mkdtemp(prefix="weighbeam-browser-"))
    try:
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        process = await asyncio.create_subprocess_exec(
            *format_command(program, user_agent, folder, limits),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            cwd=folder,
            env=_plain_environment(folder),
            limit=limits.message_bytes,
            start_new_session=True,
            **unprivileged_options(),
        )
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return BrowserInstance(process, folder)


def format_command(program: str, user_agent: str, folder: Path, limits: RenderLimits) -> list[str]:
    flags = (
        *FLAGS,
        f"--user-agent={user_agent}",
        f"--user-data-dir={folder / 'profile'}",
        f"--js-flags=--max-old-space-size={limits.script_megabytes}",
    )
    caps = (str(limits.process_bytes >> 10), str(limits.file_bytes >> 9))
    return ["sh", "-c", BY_PIPES, "sh", *caps, "nice", "-n", "5", *CONFINED, program, *flags]


def unprivileged_options() -> dict[str, Any]:
    """Options that start a process with the rights of `nobody` instead of root's, else with our own."""
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


def _plain_environment(folder: Path) -> dict[str, str]:
    """A home that will be gone, no bus to call, no display, and none of the validator's keys."""
    home = str(folder)
    path = os.environ.get("PATH", os.defpath)
    return {"PATH": path, "HOME": home, "TMPDIR": home, "LANG": "C.UTF-8", "DBUS_SESSION_BUS_ADDRESS": "disabled:"}


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


CHECK_SECONDS = 20.0
INSTALL = "install one (Debian, Ubuntu: apt install chromium) and name it in validator.browser, or turn rendering off"
ALLOW = (
    "allow unprivileged user namespaces (in a container: a seccomp profile that permits unshare), or turn rendering off"
)


def check_confinement() -> None:
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        told = f"a browser is confined by {', '.join(missing)}, which is not here"
        raise WeighbeamError("no_namespaces", told, "install util-linux, or turn rendering off")
    done = subprocess.run([*CONFINED, "true"], check=False, capture_output=True, **unprivileged_options())
    if done.returncode != 0:
        told = f"no namespaces to confine a browser in: {done.stderr.decode(errors='replace').strip()[:200]}"
        raise WeighbeamError("no_namespaces", told, ALLOW)


def detect_browser_version(program: str) -> str:
    """Detect a browser's version; `no_browser` if there is none."""
    try:
        done = subprocess.run(
            [program, "--version"], check=False, capture_output=True, timeout=CHECK_SECONDS, **unprivileged_options()
        )
    except (OSError, subprocess.TimeoutExpired):
        raise WeighbeamError("no_browser", f"{program!r} does not start a browser", INSTALL) from None
    said: str = done.stdout.decode(errors="replace").strip()
    if done.returncode != 0 or not said:
        raise WeighbeamError("no_browser", f"{program!r} prints no version", INSTALL)
    return said[:200]
