"""What the pages are made from: a journal, the mechanisms run on it, and a clock."""

from dataclasses import dataclass

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.weigh_in.constants import Averaging, hash_weighing
from weighbeam.mechanisms.contract import Mechanism, Params
from weighbeam.service.pages.render import Frame
from weighbeam.service.reader import Reader, Shown
from weighbeam.store.database import Store


@dataclass(frozen=True, slots=True)
class Run:
    """One mechanism as it is run here."""

    mechanism: Mechanism
    params: Params


@dataclass(frozen=True, slots=True)
class Shelf:
    reader: Reader

    @property
    def shown(self) -> Shown:
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

    def find(self, name: str) -> Run:
        if name not in self.shown.mechanisms:
            raise WeighbeamError("unknown_mechanism", "no such mechanism is run here", "see the overview")
        return Run(*self.shown.mechanisms[name])

    def runs(self) -> list[Run]:
        return [self.find(name) for name in self.names]

    def hash_params(self, run: Run) -> str:
        """What weights are made under, as the log says at the start."""
        return hash_weighing(run.mechanism.name, run.params.model_dump(mode="json"), self.averaging)

    def frame(self) -> Frame:
        desk = {"novelty": "/novelty"}
        boards = [(name, desk.get(name, f"/mechanisms/{name}")) for name in self.names]
        others = [("Rounds", "/rounds"), ("Weights", "/weights"), ("Attacks", "/attacks"), ("Ask", "/ask")]
        return Frame([("Overview", "/"), *boards, *others], self.shown.hotkey.address)
