"""Data of the pages: the journal, the mechanisms run on it, and a clock."""

from dataclasses import dataclass

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.rules.constants import Averaging, hash_weighing
from weighbeam.engine.views.rounds import list_mechanisms
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
        """Weighing hash of a mechanism, whose beginning the log shows at the start."""
        return hash_weighing(run.mechanism.name, run.params.model_dump(mode="json"), self.averaging)

    def is_app(self) -> bool:
        """Whether this server asks no miner and weighs nobody: it pays contributors, and that is what it shows."""
        asks = any(run.mechanism.kind == "asked" for run in self.runs())
        return not asks and not list_mechanisms(self.store)

    def find_home(self) -> str | None:
        """The first page of an app: that of its first mechanism that has one."""
        if not self.is_app():
            return None
        return next((run.mechanism.page.home for run in self.runs() if run.mechanism.page.home), None)

    def list_menu(self) -> list[tuple[str, str]]:
        """Pages that lead somewhere: an app has no rounds, no weights and nobody to ask."""
        boards = [self._list_own_pages(run) for run in self.runs()]
        own = [page for pages in boards for page in pages]
        if self.is_app():
            return [*own, ("API", "/docs")]
        others = [("Rounds", "/rounds"), ("Weights", "/weights"), ("Attacks", "/attacks")]
        ask = [("Ask", "/ask")] if any(run.mechanism.kind == "asked" for run in self.runs()) else []
        return [("Overview", "/"), *own, *others, *ask]

    def _list_own_pages(self, run: PageMechanism) -> list[tuple[str, str]]:
        page, name = run.mechanism.page, run.mechanism.name
        if self.is_app() and page.app_pages:
            return list(page.app_pages.items())
        return [(name, page.home or f"/mechanisms/{name}")]

    def frame(self) -> Frame:
        return Frame(self.list_menu(), self.shown.hotkey.address, self.shown.load_names())
