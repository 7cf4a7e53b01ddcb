"""How a mechanism's rows are shown, and whom a search for a miner means."""

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.weights.metagraphs import select_metagraph
from weighbeam.mechanism.page import MechanismPage
from weighbeam.mechanism.params import Params
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.service.tables.model import TableSource

NO_PAGE = MechanismPage()


def find_page(mechanism: str) -> MechanismPage:
    """How it is shown; without words of its own if it is not installed any more."""
    try:
        return load_mechanism(mechanism).page
    except WeighbeamError:
        return NO_PAGE


def find_units(mechanism: str, params: Params) -> int:
    """Units of a token where scores and standings are paid in them; 1 where they are numbers."""
    return find_page(mechanism).count_units(params)


def list_names(hotkey: str, uid: int | None, name: str | None) -> tuple[str, ...]:
    """Names by which a miner is found."""
    return tuple(str(one) for one in (hotkey, uid, name) if one is not None)


def find_hotkeys(source: TableSource, miner: str | None) -> tuple[str, ...]:
    """Hotkeys with this uid now, or with a name that holds the text, by any mechanism run here."""
    if miner is None:
        return ()
    if not miner.isdigit():
        return source.book.find_named(miner)
    graphs = (select_metagraph(source.store, name) for name in source.mechanisms)
    found = {one.hotkey for graph in graphs if graph for one in graph.neurons if str(one.uid) == miner}
    return tuple(sorted(found))
