"""Constants and limits of the weigh-in (docs/spec/weigh-in.md § 1): the same for every validator, never set by
environment.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from weighbeam.core.canonical import digest_json
from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_number

TAO = 10**9
CONSTANTS: Mapping[str, int | float | str] = {
    "MIN_MINERS": 3,
    "MAX_MINERS": 10,
    "MIN_STAKE_THRESHOLD": 100 * TAO,
    "MAX_MINER_STAKE": 999 * TAO,
    "CHALLENGE_INTERVAL_SECONDS": 300,
    "CHALLENGE_TIMEOUT_SECONDS": 120,
    "EVALUATION_TIMEOUT_SECONDS": 300,
    "SCORE_THRESHOLD": 0.7,
    "WEIGHTS_INTERVAL_SECONDS": 4320,
    "WEIGHT_MIN_SERVING_NODES": 1,
    "WEIGHT_FRESHNESS_HOURS": 3,
    "WEIGHT_FRESHNESS_HOURS_DEGRADED": 24,
    "DEREGISTRATION_BLOCK_LIMIT": 5000,
    "DEGRADED_MODE_THRESHOLD": 4000,
    "EMERGENCY_MODE_THRESHOLD": 4500,
    "BLOCK_SECONDS": 12,
    "EMA_START": "zero",
    "VALIDATOR_LIST_MAX_AGE_HOURS": 24,
}
CHALLENGE_INTERVAL_SECONDS = 300.0
EVALUATION_TIMEOUT_SECONDS = 300.0
WEIGHTS_INTERVAL_SECONDS = 4320.0
BLOCK_SECONDS = 12.0


@dataclass(frozen=True, slots=True)
class Averaging:
    """How emissions are averaged and how long evidence is kept: what an operator may choose."""

    ema_alpha: float = 0.3
    ema_lookback_hours: float = 24.0
    db_retention_hours: float = 48.0
    db_cleanup_interval_hours: float = 24.0

    def __post_init__(self) -> None:
        alpha, lookback, kept = self.ema_alpha, self.ema_lookback_hours, self.db_retention_hours
        _hold("ema_alpha", alpha, is_number(alpha) and 0 < alpha <= 1, "in (0, 1]")
        _hold("ema_lookback_hours", lookback, _is_positive(lookback), "> 0")
        _hold(
            "db_retention_hours", kept, is_number(kept) and kept >= 2 * lookback, f"≥ 2 × lookback = {2 * lookback:g}"
        )
        every = self.db_cleanup_interval_hours
        _hold("db_cleanup_interval_hours", every, _is_positive(every), "> 0")


def _is_positive(value: object) -> bool:
    return is_number(value, 0) and value != 0


def _hold(name: str, value: object, holds: bool, rule: str) -> None:
    variable = f"WEIGHBEAM_{name.upper()}"
    require(holds, "bad_setting", f"{variable} (weigh_in.{name}) is {value!r}; the rule is {rule}", f"set it {rule}")


def find_ignored(environment: Mapping[str, str]) -> list[str]:
    """Variables that name an internal constant, with or without our prefix: they change nothing.

    >>> find_ignored({"WEIGHBEAM_MAX_MINERS": "20", "MAX_MINERS": "1", "HOME": "/"})
    ['MAX_MINERS', 'WEIGHBEAM_MAX_MINERS']
    """
    return sorted(name for name in environment if name.removeprefix("WEIGHBEAM_") in CONSTANTS)


def hash_weighing(mechanism: str, params: Mapping[str, Any], averaging: Averaging) -> str:
    """Hash of the rules of a weight vector: the mechanism's parameters, the constants, the operator's four settings."""
    constants: dict[str, Any] = dict(CONSTANTS)
    return digest_json(
        {"mechanism": mechanism, "params": dict(params), "constants": constants, "averaging": asdict(averaging)}
    )


def refuse_setting(name: str, value: str) -> WeighbeamError:
    return WeighbeamError("bad_setting", f"{name} is {value!r}, which is not a number", "give a number, or unset it")


Amount = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]


class WeighInLimits(BaseModel):
    """The numbers the pure stages use; the engine derives the block thresholds from the chain's own limit."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)

    degraded_blocks: Count = 4000
    emergency_blocks: Count = 4500
    limit_blocks: Count = 5000
    block_seconds: Annotated[float, Field(gt=0)] = 12
    freshness_hours: Amount = 3
    freshness_hours_degraded: Amount = 24
    min_serving_nodes: Count = 1
    max_miner_stake_rao: Count = 999 * 10**9
    validator_list_max_age_hours: Amount = 24


def parse_limits(overrides: dict[str, Any] | None) -> WeighInLimits:
    """The limits with `overrides`; an unknown name is `unknown_parameter`, a bad value `bad_parameter`."""
    try:
        return WeighInLimits(**(overrides or {}))
    except (ValidationError, TypeError) as fault:
        unknown = set(overrides or {}) - set(WeighInLimits.model_fields)
        code = "unknown_parameter" if unknown else "bad_parameter"
        raise WeighbeamError(code, str(fault), "see the specification 'Weigh-in', section 11") from None
