"""Where synthetic questions come from: the mechanism's own generator, or a folder of documents."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from weighbeam.core.canonical import seeded_digest
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts import Alerts
from weighbeam.engine.read_json import read_text
from weighbeam.mechanisms.contract import Mechanism, Params, Task
from weighbeam.store.database import Store
from weighbeam.store.remember import recall, remember

TaskSource = Callable[[str], Task]
SUFFIXES = (".txt", ".md", ".markdown")
MAX_FILE = 8 << 20
ROUNDS_A_DAY = 288


def generate_tasks(mechanism: Mechanism, params: Params) -> TaskSource:
    return lambda seed: mechanism.generate_task(params, seed)


@dataclass(slots=True)
class FolderTasks:
    """Every document of a folder once, in an order nobody else knows, before any comes again.

    The order is drawn from a salt kept in the store and so survives restarts. A file that makes no task is passed over.
    """

    mechanism: Mechanism
    params: Params
    folder: Path
    store: Store
    alerts: Alerts

    def check(self) -> None:
        """Refuse a folder without a usable document; warn of one that repeats within a day."""
        found = self._list()
        if not any(map(self._is_usable, found)):
            raise WeighbeamError("no_tasks", f"no file of {self.folder} makes a task", "put documents there")
        if len(found) < ROUNDS_A_DAY:
            text = f"{self.folder} holds {len(found)} documents, a day has {ROUNDS_A_DAY} rounds: tasks will repeat"
            self.alerts.tell("few_documents", "warning", text, self.mechanism.name)

    def __call__(self, _: str) -> Task:
        found = self._list()
        for _turn in found:
            path = self._next(found)
            try:
                return self.mechanism.read_task(self.params, path.name, read_text(path, MAX_FILE))
            except WeighbeamError as fault:
                text = f"{path.name} is passed over: {fault.message}"
                self.alerts.tell("few_documents", "warning", text, self.mechanism.name)
        raise WeighbeamError("no_tasks", f"no file of {self.folder} makes a task", "put documents there")

    def _is_usable(self, path: Path) -> bool:
        try:
            self.mechanism.read_task(self.params, path.name, read_text(path, MAX_FILE))
        except WeighbeamError:
            return False
        return True

    def _list(self) -> list[Path]:
        try:
            found = sorted(path for path in self.folder.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file())
        except OSError as fault:
            raise WeighbeamError("no_tasks", f"{self.folder}: {fault.strerror}", "name a folder of documents") from None
        if not found:
            raise WeighbeamError("no_tasks", f"{self.folder} holds no document", f"put {', '.join(SUFFIXES)} there")
        return found

    def _next(self, found: list[Path]) -> Path:
        """The next in this lap's order; a lap ends when every file present has had its turn."""
        key = f"tasks:{self.mechanism.name}"
        kept = recall(self.store, key) or {"salt": secrets.token_hex(16), "done": []}
        left = [path for path in found if path.name not in set(kept["done"])]
        if not left:
            kept, left = {"salt": secrets.token_hex(16), "done": []}, found
        chosen = min(left, key=lambda path: seeded_digest(kept["salt"], path.name))
        present = {path.name for path in found}
        done = [name for name in kept["done"] if name in present]
        remember(self.store, key, {"salt": kept["salt"], "done": [*done, chosen.name]})
        return chosen
