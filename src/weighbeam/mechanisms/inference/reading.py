"""What a round's outputs mean, in words (spec § 13)."""

from collections.abc import Mapping
from typing import Any

from weighbeam.mechanisms.inference.compare import exceeds
from weighbeam.mechanisms.inference.params import InferenceParams


def read_outcome(output: Mapping[str, Any], params: InferenceParams) -> list[str]:
    """The sentences that apply to an output of `inference.score`."""
    if output["void"]:
        fewer = f"Fewer than {params.min_miners} answers arrived."
        return [f"{fewer} Nothing was scored, no standing changed."]
    return [_read_consensus(output, params), *_read_alerts(output)]


def _read_consensus(output: Mapping[str, Any], params: InferenceParams) -> str:
    if output["achieved"]:
        return (
            "Strong agreement among quality answers. "
            f"Members of the consensus cluster earn {params.consensus_multiplier:g} times."
        )
    if exceeds(output["consensus_score"], params.consensus_threshold):
        return (
            "The answers look alike but do not agree (polarity), or no two voices form a cluster. No consensus bonus."
        )
    return (
        "Weak or no consensus: the prompt may be ambiguous, the answers valid but different, "
        "or a low-quality cluster was filtered."
    )


def _read_alerts(output: Mapping[str, Any]) -> list[str]:
    lines = []
    for alert in output["alerts"]:
        if alert["code"] == "low_quality_cluster":
            held, received = len(alert["hotkeys"]), len(output["quality"])
            mean = sum(output["quality"][hotkey] for hotkey in alert["hotkeys"]) / held
            lines.append(
                f"Possible coordinated low-quality answers: {held} of {received}, mean quality {mean:.2f}. "
                "They were excluded and earn nothing."
            )
    return lines
