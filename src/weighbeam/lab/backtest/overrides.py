"""Overrides of a backtest: mechanism parameters and weigh-in numbers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.rules.constants import Averaging, WeighInLimits, parse_limits
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params, expand_preset, recall_params

WEIGH_IN, SENSES = "weigh_in", "senses"
AVERAGING = tuple(one.name for one in fields(Averaging))
LIMITS = tuple(WeighInLimits.model_fields)


@dataclass(frozen=True, slots=True)
class BacktestOverrides:
    """Overrides by mechanism, of the averages, and of the limits of a weigh-in; of nothing, they are the journal's."""

    params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    averaging: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, Any] = field(default_factory=dict)

    def set_params(self, mechanism: Mechanism, recorded: Mapping[str, Any]) -> Params:
        return recall_params(mechanism, {**recorded, **expand_preset(mechanism, self.params.get(mechanism.name, {}))})

    def set_averaging(self, recorded: Averaging) -> Averaging:
        return replace(recorded, **self.averaging) if self.averaging else recorded

    def set_limits(self, recorded: WeighInLimits) -> WeighInLimits:
        return parse_limits({**recorded.model_dump(), **self.limits}) if self.limits else recorded

    def as_settings(self) -> Iterator[tuple[str, Any]]:
        """Each as it is written: `inference.lof_limit`, `weigh_in.ema_alpha`."""
        for mechanism, overrides in self.params.items():
            yield from ((f"{mechanism}.{name}", value) for name, value in overrides.items())
        yield from ((f"{WEIGH_IN}.{name}", value) for name, value in {**self.averaging, **self.limits}.items())


def parse_overrides(given: Mapping[str, Any], mechanism: str | None = None) -> BacktestOverrides:
    """`SCOPE.NAME` → value, or a table of names per scope; a bare name is one of `mechanism`.

    >>> parse_overrides({"weigh_in.ema_alpha": 0.2, "lof_limit": 2.0}, "inference").params
    {'inference': {'lof_limit': 2.0}}
    """
    params: dict[str, dict[str, Any]] = {}
    weighing: dict[str, Any] = {}
    for scope, name, value in _list_settings(given, mechanism):
        if scope == SENSES:
            told = f"{scope}.{name}: the journal holds the results of the recorded senses only"
            raise WeighbeamError("not_observed", told, "run rounds with the other senses and compare their journals")
        if scope == WEIGH_IN and name not in (*AVERAGING, *LIMITS):
            known = ", ".join((*AVERAGING, *LIMITS))
            raise WeighbeamError("unknown_parameter", f"weigh_in has no {name!r}", f"use one of: {known}")
        (weighing if scope == WEIGH_IN else params.setdefault(scope, {}))[name] = value
    averaging = {name: weighing[name] for name in AVERAGING if name in weighing}
    limits = {name: weighing[name] for name in LIMITS if name in weighing}
    parse_limits(limits)
    return BacktestOverrides(params, averaging, limits)


def _list_settings(given: Mapping[str, Any], mechanism: str | None) -> Iterator[tuple[str, str, Any]]:
    for key, value in given.items():
        scope, dot, name = key.partition(".")
        if dot:
            yield scope, name, value
        elif isinstance(value, Mapping):
            yield from ((key, inner, one) for inner, one in value.items())
        elif mechanism is not None:
            yield mechanism, key, value
        else:
            told = f"{key!r} does not name the mechanism of the parameter"
            raise WeighbeamError("bad_setting", told, f"write MECHANISM.{key} or weigh_in.{key}, or name --mechanism")
