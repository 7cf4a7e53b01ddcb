"""What the pages are made from: a journal, the mechanisms run on it, and a clock."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.weigh_in.constants import Averaging
from weighbeam.mechanisms.contract import Mechanism, Params
from weighbeam.service.pages.render import Frame
from weighbeam.store.database import Store


@dataclass(frozen=True, slots=True)
class Run:
    """One mechanism as it is run here."""

    mechanism: Mechanism
    params: Params
    params_hash: str


@dataclass(frozen=True, slots=True)
class Shelf:
    store: Store
    runs: Mapping[str, Run]
    averaging: Averaging
    now: Callable[[], float]
    node: str | None = None
    live: bool = True

    def find(self, name: str) -> Run:
        if name not in self.runs:
            raise WeighbeamError("unknown_mechanism", "no such mechanism is run here", "see the overview")
        return self.runs[name]

    def frame(self) -> Frame:
        boards = [(name, f"/mechanisms/{name}") for name in self.runs if self.runs[name].mechanism.kind == "asked"]
        collected = [("novelty", "/novelty")] if "novelty" in self.runs else []
        others = [("Rounds", "/rounds"), ("Weights", "/weights"), ("Attacks", "/attacks"), ("Ask", "/ask")]
        return Frame([("Overview", "/"), *boards, *collected, *others], self.node, self.live)
