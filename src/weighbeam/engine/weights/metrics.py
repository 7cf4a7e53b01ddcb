"""Metrics of a weigh-in: burn, miners left with nothing, and how much the ranking moved."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from sqlalchemy import Connection, select

from weighbeam.engine.rules.decision import Decision
from weighbeam.engine.rules.weighing import Weighing, weigh_raw
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.mechanism.records import Standing
from weighbeam.store.database import Store
from weighbeam.store.memory import note, recall
from weighbeam.store.tables import memory


@dataclass(frozen=True, slots=True)
class WeighInMetrics:
    """The last vector that was decided on. Shares are of all weights; `churn` is None if there was none before."""

    ranking: tuple[str, ...]
    dropped: int
    churn: float | None = None
    burn_set: float | None = None
    burn_configured: float | None = None


def note_weighed(
    connection: Connection,
    mechanism: Mechanism,
    params: Params,
    standings: Sequence[Standing],
    weighing: Weighing,
    decision: Decision,
) -> None:
    """Within the transaction that writes the decision; a skip leaves what was."""
    if decision.action != "submit":
        return
    kept = connection.scalar(select(memory.c.value).where(memory.c.key == _key(mechanism.name)))
    weighed = measure_weights(weighing, decision, rank_weighed(mechanism, params, standings, weighing))
    before = None if kept is None else kept["ranking"]
    churn = None if before is None else measure_churn(before, weighed.ranking)
    note(connection, _key(mechanism.name), asdict(replace(weighed, churn=churn)))


def rank_weighed(
    mechanism: Mechanism, params: Params, standings: Sequence[Standing], weighing: Weighing
) -> tuple[str, ...]:
    """Weighed miners, best first, including those whose weight is too small for an integer."""
    target = weighing.burn.hotkey if weighing.burn else None
    fresh = {one.hotkey for one in weighing.payees if one.last_success_at is not None} - {target}
    raw = weigh_raw(mechanism, params, standings, fresh, target)
    return tuple(sorted(raw.keys() - {target}, key=lambda hotkey: (-raw[hotkey], hotkey)))


def measure_weights(weighing: Weighing, decision: Decision, ranking: tuple[str, ...]) -> WeighInMetrics:
    values = dict(zip(decision.uids, decision.values, strict=True))
    uids = {one.hotkey: one.uid for one in weighing.payees}
    dropped = sum(not values.get(uids[hotkey]) for hotkey in ranking if hotkey in uids)
    burn = weighing.burn
    if burn is None:
        return WeighInMetrics(ranking, dropped)
    burnt = 0 if burn.uid is None else values.get(burn.uid, 0)
    return WeighInMetrics(ranking, dropped, None, burnt / max(1, sum(values.values())), burn.share)


def measure_churn(before: Sequence[str], after: Sequence[str]) -> float:
    """The share of all who were ranked, then or now, whose place is another.

    >>> measure_churn(["a", "b", "c"], ["a", "c", "b"]), measure_churn(["a"], ["a"]), measure_churn([], [])
    (0.6666666666666666, 0.0, 0.0)
    """
    old, new = _list_places(before), _list_places(after)
    everyone = old.keys() | new.keys()
    moved = sum(old.get(hotkey) != new.get(hotkey) for hotkey in everyone)
    return moved / len(everyone) if everyone else 0.0


def recall_weighed(store: Store, mechanism: str) -> WeighInMetrics | None:
    kept = recall(store, _key(mechanism))
    return None if kept is None else WeighInMetrics(**{**kept, "ranking": tuple(kept["ranking"])})


def _list_places(ranking: Sequence[str]) -> Mapping[str, int]:
    return {hotkey: place for place, hotkey in enumerate(ranking)}


def _key(mechanism: str) -> str:
    return f"weighed:{mechanism}"
