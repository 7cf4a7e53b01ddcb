"""Network constants of the weigh-in: the same for every validator, never set by environment."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from weighbeam.core.errors import WeighbeamError

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


def read_limits(overrides: dict[str, Any] | None) -> WeighInLimits:
    """The limits with `overrides`; an unknown name is `unknown_parameter`, a bad value `bad_parameter`."""
    try:
        return WeighInLimits(**(overrides or {}))
    except (ValidationError, TypeError) as fault:
        unknown = set(overrides or {}) - set(WeighInLimits.model_fields)
        code = "unknown_parameter" if unknown else "bad_parameter"
        raise WeighbeamError(code, str(fault), "see docs/spec/weigh-in.md § 11") from None
