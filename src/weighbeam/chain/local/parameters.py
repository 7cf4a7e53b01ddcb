"""The subnet's parameters, under the names and defaults of docs/spec/chain.md § 2."""

from pydantic import BaseModel, ConfigDict

from weighbeam.core.yuma.epoch import YumaParams


class SubnetParameters(BaseModel):
    """Kept in the chain file; a change is an event."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    netuid: int = 1
    mechanisms: int = 1
    tempo: int = 360
    rate_limit: int = 100
    min_allowed_weights: int = 1
    max_weight_limit: int = 65535
    version_key: int = 0
    commit_reveal: bool = False
    reveal_period: int = 1
    activity_factor: int = 13889
    immunity_period: int = 4096
    stake_threshold: int = 0
    max_validators: int = 64
    max_uids: int = 256
    kappa: int = 32767
    yuma3: bool = False
    liquid_alpha: bool = False
    alpha_low: int = 45875
    alpha_high: int = 58982
    alpha_steepness: int = 1000
    bonds_moving_average: int = 900_000
    bonds_penalty: int = 65535
    emission_per_block: int = 10**9

    @property
    def activity_cutoff(self) -> int:
        return max(1, self.activity_factor * self.tempo // 1000)

    def yuma(self, owner_uid: int | None) -> YumaParams:
        return YumaParams(
            kappa=self.kappa,
            yuma3=self.yuma3,
            liquid_alpha=self.liquid_alpha,
            alpha_low=self.alpha_low,
            alpha_high=self.alpha_high,
            alpha_steepness=self.alpha_steepness,
            bonds_moving_average=self.bonds_moving_average,
            bonds_penalty=self.bonds_penalty,
            max_validators=self.max_validators,
            tempo=self.tempo,
            activity_cutoff=self.activity_cutoff,
            stake_threshold=self.stake_threshold,
            owner_uid=owner_uid,
        )
