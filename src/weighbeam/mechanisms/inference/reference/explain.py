"""Why an answer counts as right or wrong: what was expected, what was read, and what it keeps."""

from collections.abc import Mapping
from typing import Any

from weighbeam.mechanism.records import Node
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.reference.kinds import parse_reference
from weighbeam.mechanisms.inference.reference.marks import find_factor
from weighbeam.mechanisms.inference.reference.truth import RIGHT, describe_reading, judge_reading


def explain_truth(params: InferenceParams, facts: Mapping[str, Any], hotkey: str) -> tuple[Node, ...]:
    """One node in a round with a reference, none in any other."""
    recorded = facts["task"].get("reference")
    text = next(miner["text"] for miner in facts["miners"] if miner["hotkey"] == hotkey)
    if recorded is None or text is None:
        return ()
    reference, reading = parse_reference(recorded), facts["texts"][text]["read"]
    truth = None if reading is None else judge_reading(reference, reading)
    lines = [
        Node(f"expected ({reference.kind}): {reference.describe()}"),
        Node(f"read from the answer: {'nothing' if reading is None else describe_reading(reference, reading)}"),
    ]
    if truth is None:
        return (Node("truth: cannot be judged, which counts neither for nor against", tuple(lines)),)
    factor, kept = find_factor(truth, params.wrong_factor), params.wrong_factor
    lines.append(Node(f"truth factor = {kept:g} + {1 - kept:.6g}·{truth:.6g} = {factor:.6g}"))
    verdict = "right" if truth >= RIGHT else "wrong: never a member of the consensus"
    return (Node(f"truth {truth:.6g}: {verdict}", tuple(lines)),)
