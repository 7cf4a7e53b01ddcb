"""Start a browser in user, network and process namespaces of its own, and end everything in them.

The network namespace has no interface that is up, so no socket leads out of it; the browser is spoken to by pipes.
Its own sandbox stays on: it is built from user namespaces too, and a browser that cannot have it does not start.
"""

import asyncio
import os
import shutil
import signal
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, Process
from pathlib import Path
from typing import Any

from weighbeam.senses.pages.browser.limits import RenderLimits
from weighbeam.senses.pages.browser.memory import list_below

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


class Browser:
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
        inside = await asyncio.to_thread(list_below, self.pid)
        _kill(inside[1] if len(inside) > 1 else self.pid)
        try:
            async with asyncio.timeout(GONE_SECONDS):
                await self._process.wait()
        except TimeoutError:
            _kill(self.pid)
            await self._process.wait()
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)


async def start_browser(program: str, user_agent: str, limits: RenderLimits) -> Browser:
    """A fresh browser without a past; `OSError` if there is none. Root gives its rights away first."""
    folder = Path(tempfile.mkdtemp(prefix="weighbeam-browser-"))
    try:
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        process = await asyncio.create_subprocess_exec(
            *write_command(program, user_agent, folder, limits),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            cwd=folder,
            env=_plain_environment(folder),
            limit=limits.message_bytes,
            start_new_session=True,
            **give_up_rights(),
        )
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return Browser(process, folder)


def write_command(program: str, user_agent: str, folder: Path, limits: RenderLimits) -> list[str]:
    flags = (
        *FLAGS,
        f"--user-agent={user_agent}",
        f"--user-data-dir={folder / 'profile'}",
        f"--js-flags=--max-old-space-size={limits.script_megabytes}",
    )
    caps = (str(limits.process_bytes >> 10), str(limits.file_bytes >> 9))
    return ["sh", "-c", BY_PIPES, "sh", *caps, "nice", "-n", "5", *CONFINED, program, *flags]


def give_up_rights() -> dict[str, Any]:
    """What a process is started with: nobody's rights instead of root's, else those of whoever runs us."""
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
