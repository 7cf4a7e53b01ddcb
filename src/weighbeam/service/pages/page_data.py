"""Data of the pages: the journal, the mechanisms run on it, and a clock."""

from dataclasses import dataclass

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.rules.constants import Averaging, hash_weighing
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.service.api.reader import ReadingApi, ReadingContext
from weighbeam.service.api.tables import open_source
from weighbeam.service.pages.rendering import Frame
from weighbeam.service.tables.model import TableSource
from weighbeam.store.database import Store


@dataclass(frozen=True, slots=True)
class PageMechanism:
    """One mechanism as it is run here."""

    mechanism: Mechanism
    params: Params


@dataclass(frozen=True, slots=True)
class PageData:
    reader: ReadingApi

    @property
    def shown(self) -> ReadingContext:
        return self.reader.shown

    @property
    def store(self) -> Store:
        return self.shown.store

    @property
    def averaging(self) -> Averaging:
        return self.shown.averaging

    @property
    def names(self) -> list[str]:
        return list(self.shown.mechanisms)

    def now(self) -> float:
        return self.shown.now()

    @property
    def tables(self) -> TableSource:
        return open_source(self.shown)

    def find(self, name: str) -> PageMechanism:
        if name not in self.shown.mechanisms:
            raise WeighbeamError("unknown_mechanism", "no such mechanism is run here", "see the overview")
        return PageMechanism(*self.shown.mechanisms[name])

    def runs(self) -> list[PageMechanism]:
        return [self.find(name) for name in self.names]

    def hash_params(self, run: PageMechanism) -> str:
        """What weights are made under, as the log says at the start."""
        return hash_weighing(run.mechanism.name, run.params.model_dump(mode="json"), self.averaging)

    def frame(self) -> Frame:
        boards = [
            (run.mechanism.name, run.mechanism.page.home or f"/mechanisms/{run.mechanism.name}") for run in self.runs()
        ]
        others = [("Rounds", "/rounds"), ("Weights", "/weights"), ("Attacks", "/attacks"), ("Ask", "/ask")]
        return Frame([("Overview", "/"), *boards, *others], self.shown.hotkey.address, self.shown.load_names())
