"""Sources of synthetic questions: the mechanism itself, a folder of documents, or a file with one document per line."""

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from weighbeam.core.canonical import digest_text, seeded_digest
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.support.json_files import load_text
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.mechanism.records import Task
from weighbeam.store.database import Store
from weighbeam.store.memory import look_up, note

TaskSource = Callable[[str], Task]
SUFFIXES = (".txt", ".md", ".markdown")
MAX_FILE = 8 << 20
ROUNDS_A_DAY = 288
LAST = "g"
"""After every digest: a lap that has ended."""


def generate_tasks(mechanism: Mechanism, params: Params) -> TaskSource:
    return lambda seed: mechanism.generate_task(params, seed)


class DocumentSource(Protocol):
    """Where documents are kept: looked through before every task, so that it may change meanwhile."""

    def list(self) -> Mapping[str, Callable[[], str]]:
        """Every document by name, read when it is wanted; `no_tasks` if there is none."""
        ...

    def __str__(self) -> str: ...


@dataclass(frozen=True, slots=True)
class FolderDocuments:
    """The text files of a folder."""

    folder: Path

    def list(self) -> dict[str, Callable[[], str]]:
        try:
            found = sorted(path for path in self.folder.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file())
        except OSError as fault:
            raise _no_tasks(f"{self.folder}: {fault.strerror}", "name a folder of documents") from None
        if not found:
            raise _no_tasks(f"{self.folder} holds no document", f"put {', '.join(SUFFIXES)} there")
        return {path.name: partial(load_text, path, MAX_FILE) for path in found}

    def __str__(self) -> str:
        return str(self.folder)


@dataclass(frozen=True, slots=True)
class FileDocuments:
    """The lines of a file that are not empty, each once."""

    file: Path

    def list(self) -> dict[str, Callable[[], str]]:
        lines = [line.strip() for line in load_text(self.file, MAX_FILE).split("\n")]
        found = {f"{self.file.name} {digest_text(line)[:16]}": partial(str, line) for line in lines if line}
        if not found:
            raise _no_tasks(f"{self.file} holds no line", "write a task per line")
        return dict(sorted(found.items()))

    def __str__(self) -> str:
        return str(self.file)


@dataclass(slots=True)
class DocumentTasks:
    """Every document of a source once, in a secret order, before any repeats.

    The order is drawn from a salt kept in the store and so survives restarts. A document that makes no task is passed
    over.
    """

    mechanism: Mechanism
    params: Params
    documents: DocumentSource
    store: Store
    alerts: Alerts

    def check(self) -> None:
        """Refuse a source without a usable document; warn if documents repeat within a day."""
        found = self.documents.list()
        if not any(self._is_usable(name, read) for name, read in found.items()):
            raise _no_tasks(f"no document of {self.documents} makes a task", "put documents there")
        if len(found) < ROUNDS_A_DAY:
            text = f"{self.documents} holds {len(found)} documents, a day has {ROUNDS_A_DAY} rounds: tasks will repeat"
            self.alerts.tell("few_documents", "warning", text, self.mechanism.name)

    def __call__(self, seed: str) -> Task:
        found = self.documents.list()
        for _turn in found:
            name = self._next(list(found))
            try:
                task = self.mechanism.parse_task(self.params, name, found[name]())
                return self.mechanism.finish_task(self.params, task, seed)
            except WeighbeamError as fault:
                text = f"{name} is skipped: {fault.message}"
                self.alerts.tell("few_documents", "warning", text, self.mechanism.name)
        raise _no_tasks(f"no document of {self.documents} makes a task", "put documents there")

    def _is_usable(self, name: str, read: Callable[[], str]) -> bool:
        try:
            self.mechanism.parse_task(self.params, name, read())
        except WeighbeamError:
            return False
        return True

    def _next(self, found: list[str]) -> str:
        """The next in this lap's order; a lap ends with the last, and what is new meanwhile may wait for the next."""
        key = f"tasks:{self.mechanism.name}"
        with self.store.write() as connection:
            kept = look_up(connection, key) or {}
            salt, after = str(kept.get("salt", "")), str(kept.get("after", LAST))
            order = [(seeded_digest(salt, name), name) for name in found]
            left = [place for place in order if place[0] > after]
            if not left:
                salt = secrets.token_hex(16)
                left = [(seeded_digest(salt, name), name) for name in found]
            digest, chosen = min(left)
            note(connection, key, {"salt": salt, "after": digest})
        return chosen


def _no_tasks(what: str, remedy: str) -> WeighbeamError:
    return WeighbeamError("no_tasks", what, remedy)
