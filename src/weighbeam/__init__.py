"""Weighbeam: an engine for incentive mechanisms.

The names in `__all__` are the public API (docs/reference/api-reference.md); what is not among them may change. Each
is imported when it is first used, so that `import weighbeam` alone loads neither numpy nor pydantic nor a database.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

if TYPE_CHECKING:
    from weighbeam.api import backtest, check_mechanism, entail, explain, replay, score
    from weighbeam.core.errors import WeighbeamError
    from weighbeam.mechanism.base import Mechanism
    from weighbeam.mechanism.params import Params
    from weighbeam.mechanism.records import Answer, Asked, Node, Observation, Score, Scored, Standing, Task, Weights
    from weighbeam.mechanism.registry import load_mechanism
    from weighbeam.mechanisms.novelty.desk.opening import open_novelty
    from weighbeam.senses.local import LocalSenses
    from weighbeam.senses.ports.protocols import Senses

__all__ = [
    "Answer",
    "Asked",
    "LocalSenses",
    "Mechanism",
    "Node",
    "Observation",
    "Params",
    "Score",
    "Scored",
    "Senses",
    "Standing",
    "Task",
    "WeighbeamError",
    "Weights",
    "__version__",
    "backtest",
    "check_mechanism",
    "entail",
    "explain",
    "load_mechanism",
    "open_novelty",
    "replay",
    "score",
]

_HOMES = {
    "weighbeam.api": "backtest check_mechanism entail explain replay score",
    "weighbeam.mechanisms.novelty.desk.opening": "open_novelty",
    "weighbeam.core.errors": "WeighbeamError",
    "weighbeam.mechanism.base": "Mechanism",
    "weighbeam.mechanism.params": "Params",
    "weighbeam.mechanism.records": "Answer Asked Node Observation Score Scored Standing Task Weights",
    "weighbeam.mechanism.registry": "load_mechanism",
    "weighbeam.senses.local": "LocalSenses",
    "weighbeam.senses.ports.protocols": "Senses",
}

if not TYPE_CHECKING:
    # Type checkers see the imports above, and so report a name that is not there.
    def __getattr__(name: str) -> Any:
        """Import a public name when it is first used."""
        from importlib import import_module

        for home, names in _HOMES.items():
            if name in names.split():
                try:
                    found = globals()[name] = getattr(import_module(home), name)
                except ModuleNotFoundError as fault:
                    from weighbeam.core.extras import explain_missing

                    raise explain_missing(fault) or fault from None
                return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
