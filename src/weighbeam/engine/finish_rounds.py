"""Rounds that were observed but not scored: what a crash left, or an observer made."""

from collections.abc import Collection, Mapping

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts import tell_fault
from weighbeam.engine.journal import Journal
from weighbeam.mechanisms.contract import Mechanism


def finish_rounds(
    journal: Journal, mechanisms: Mapping[str, Mechanism], playing: Collection[str] = frozenset()
) -> list[str]:
    """Score what a crash or an observer left observed; gives the rounds finished. One that cannot be is discarded."""
    open_rounds = [(id, mechanisms[name]) for id, name in journal.unfinished() if name in mechanisms]
    return [id for id, mechanism in open_rounds if id not in playing and _finish(journal, id, mechanism)]


def _finish(journal: Journal, round_id: str, mechanism: Mechanism) -> bool:
    """Whether it was scored now; whoever was quicker has scored it as well."""
    try:
        journal.commit(round_id, mechanism)
    except Exception as fault:
        code = fault.code if isinstance(fault, WeighbeamError) else ""
        if code == "not_open":
            return False
        tell_fault(fault, round_id)
        if code != "store_fault":
            journal.discard(round_id)
        return False
    return True
