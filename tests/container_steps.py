"""Run the steps of deploy/Dockerfile in a plain root file system, where no container engine runs.

    debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates bookworm ROOT
    python tests/container_steps.py ROOT [FOLDER-TO-SHOW …]        # as root; ROOT stays as it is

Each stage begins with a copy of ROOT. COPY copies, RUN runs by chroot, ENV, WORKDIR and USER hold from there on,
and at the end ENTRYPOINT and CMD run as that user. Further folders (a package index, certificates) are mounted to be
read. What an engine adds is not tried: layers, the base image itself, capabilities, seccomp, a read-only root.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests_root import ROOT

DOCKERFILE = ROOT / "deploy/Dockerfile"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PASSED_ON = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")
KNOWN = ("FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "VOLUME", "STOPSIGNAL", "ENTRYPOINT", "CMD")


@dataclass
class Stage:
    """The root of a stage, and what holds for its next step."""

    root: Path
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": PATH, "HOME": "/root"})
    folder: str = "/"
    user: str = "0"
    entry: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)

    def run(self, words: Sequence[str]) -> None:
        """In the stage's root, as its user."""
        given = {name: os.environ[name] for name in os.environ if name in PASSED_ON or name.startswith("PIP_")}
        user = self.user if self.user.isdecimal() else find_user(self.root, self.user)
        place = (
            "chroot",
            f"--userspec={user}:{user}",
            str(self.root),
            "/bin/sh",
            "-c",
            'cd "$0" && exec "$@"',
            self.folder,
        )
        started = time.monotonic()
        done = subprocess.run((*place, *words), env={**given, **self.environment}, check=False)
        print(f"{time.monotonic() - started:6.1f} s  {' '.join(words)[:100]!r}", flush=True)
        if done.returncode:
            sys.exit(f"the step ended with {done.returncode}")


def find_user(root: Path, name: str) -> str:
    rows = [line.split(":") for line in (root / "etc/passwd").read_text().splitlines()]
    return next(row[2] for row in rows if row[0] == name)


def read_steps(text: str) -> Iterator[tuple[str, str]]:
    """Each instruction and what follows it, on one line."""
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for line in re.sub(r"\\\n", " ", lines).splitlines():
        name, _, rest = line.strip().partition(" ")
        if name:
            if name not in KNOWN:
                sys.exit(f"{name} is not known here")
            yield name, rest.strip()


def copy(words: Sequence[str], stage: Stage, stages: dict[str, Stage]) -> None:
    """COPY from the project, or from an earlier stage."""
    source = ROOT
    if words[0].startswith("--from="):
        source, words = stages[words[0].removeprefix("--from=")].root, words[1:]
    *names, to = words
    target = stage.root / (to if to.startswith("/") else f"{stage.folder}/{to}").lstrip("/")
    for name in names:
        found = source / name.lstrip("/")
        if found.is_dir():
            shutil.copytree(found, target, symlinks=True, dirs_exist_ok=True)
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy2(found, target)


def take(name: str, rest: str, stage: Stage, stages: dict[str, Stage]) -> None:
    """One instruction; what only an engine knows has no effect here."""
    if name == "WORKDIR":
        stage.folder = rest
        (stage.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
    elif name == "COPY":
        copy(shlex.split(rest), stage, stages)
    elif name == "RUN":
        stage.run(("/bin/sh", "-ec", rest))
    elif name == "ENV":
        for pair in shlex.split(rest):
            key, _, value = pair.partition("=")
            stage.environment[key] = value.replace("$PATH", stage.environment["PATH"])
    elif name == "USER":
        stage.user = rest
    elif name == "ENTRYPOINT":
        stage.entry = json.loads(rest)
    elif name == "CMD":
        stage.command = json.loads(rest)


@contextmanager
def open_root(base: Path, folder: Path, shown: Sequence[Path]) -> Iterator[Stage]:
    """A copy of the root file system with /proc, the network's names, and `python` where its image has it."""
    root = folder / f"stage-{len(list(folder.iterdir()))}"
    subprocess.run(("cp", "-a", str(base), str(root)), check=True)
    shutil.copy2("/etc/resolv.conf", root / "etc/resolv.conf")
    if not (root / "usr/local/bin/python").exists():
        (root / "usr/local/bin/python").symlink_to("/usr/bin/python3")
    with ExitStack() as stack:
        mount(("-t", "proc", "proc"), root / "proc", stack)
        for path in shown:
            target = root / str(path.resolve()).lstrip("/")
            (target if path.is_dir() else target.parent).mkdir(parents=True, exist_ok=True)
            if not path.is_dir():
                target.touch()
            mount(("--bind", str(path.resolve())), target, stack)
            subprocess.run(("mount", "-o", "remount,bind,ro", str(target)), check=True)
        yield Stage(root)


def mount(what: Sequence[str], target: Path, stack: ExitStack) -> None:
    subprocess.run(("mount", *what, str(target)), check=True)
    stack.callback(subprocess.run, ("umount", str(target)), check=True)


@contextmanager
def make_folder() -> Iterator[Path]:
    """A folder that is removed afterwards, unless something of this machine is still mounted in it."""
    folder = Path(tempfile.mkdtemp())
    try:
        yield folder
    finally:
        if str(folder) in Path("/proc/self/mounts").read_text():
            print(f"{folder} still has mounts: unmount them and remove it")
        else:
            shutil.rmtree(folder)


def main(base: Path, shown: Sequence[Path]) -> None:
    stages: dict[str, Stage] = {}
    with ExitStack() as stack:
        folder = stack.enter_context(make_folder())
        stage: Stage | None = None
        for name, rest in read_steps(DOCKERFILE.read_text("utf-8")):
            if name == "FROM":
                _, *label = re.split(r" AS ", rest)
                stage = stack.enter_context(open_root(base, folder, shown))
                stages[label[0] if label else ""] = stage
            else:
                assert stage is not None, "a Dockerfile begins with FROM"
                take(name, rest, stage, stages)
        assert stage is not None
        stage.run((*stage.entry, *stage.command))
    print("every step ran")


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(one) for one in sys.argv[2:]])
