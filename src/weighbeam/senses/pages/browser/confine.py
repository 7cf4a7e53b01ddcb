"""Can a browser be confined here, and is there one? Known before anything is read; without it nothing is."""

import shutil
import subprocess

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.pages.browser.launch import CONFINED, NEEDED, give_up_rights

SECONDS = 20.0
INSTALL = "install one (Debian, Ubuntu: apt install chromium) and name it in validator.browser, or turn rendering off"
ALLOW = (
    "allow unprivileged user namespaces (in a container: a seccomp profile that permits unshare), or turn rendering off"
)


def check_confinement() -> None:
    missing = [name for name in NEEDED if shutil.which(name) is None]
    if missing:
        told = f"a browser is confined by {', '.join(missing)}, which is not here"
        raise WeighbeamError("no_namespaces", told, "install util-linux, or turn rendering off")
    done = subprocess.run([*CONFINED, "true"], check=False, capture_output=True, **give_up_rights())
    if done.returncode != 0:
        told = f"no namespaces to confine a browser in: {done.stderr.decode(errors='replace').strip()[:200]}"
        raise WeighbeamError("no_namespaces", told, ALLOW)


def tell_version(program: str) -> str:
    """What a browser calls itself; `no_browser` if there is none."""
    try:
        done = subprocess.run(
            [program, "--version"], check=False, capture_output=True, timeout=SECONDS, **give_up_rights()
        )
    except (OSError, subprocess.TimeoutExpired):
        raise WeighbeamError("no_browser", f"{program!r} starts no browser", INSTALL) from None
    said: str = done.stdout.decode(errors="replace").strip()
    if done.returncode != 0 or not said:
        raise WeighbeamError("no_browser", f"{program!r} tells no version", INSTALL)
    return said[:200]
