"""From standings to raw weights. Pure; the engine makes shares of them."""

from collections.abc import Collection, Sequence

from weighbeam.mechanisms.contract import Standing, Weights


def weigh_standings(standings: Sequence[Standing], eligible: Collection[str]) -> Weights:
    return Weights({s.hotkey: (s.value or 0.0) if s.hotkey in eligible else 0.0 for s in standings})
