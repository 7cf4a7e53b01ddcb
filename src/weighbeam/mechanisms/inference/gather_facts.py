"""All a narrator may know of a round, as JSON: what the deterministic one says, and what was asked and answered."""

from collections.abc import Mapping
from typing import Any

from weighbeam.mechanisms.contract import Observation
from weighbeam.mechanisms.inference.narrate import count_voices, find_lead
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.score import Replayed

DECIMALS = 6


def gather_facts(
    params: InferenceParams,
    observation: Observation,
    replayed: Replayed,
    prompt: str,
    texts: Mapping[str, str],
    heatmap: str | None,
) -> dict[str, Any]:
    """The facts of a valid round. `texts` are by digest, as the journal keeps them; one that is gone is None."""
    output = replayed.write()
    best = output["best"]
    return {
        "counts": {
            "asked": len(output["scores"]),
            "received": len(replayed.given.received),
            "flagged": len(output["flagged"]),
            "voices": count_voices(replayed),
        },
        "consensus": {
            "mu": output["mu"],
            "sigma": output["sigma"],
            "lambda": params.lambda_factor,
            "score": output["consensus_score"],
            "threshold": params.consensus_threshold,
            "agreement": output["agreement"],
            "achieved": output["achieved"],
        },
        "in_consensus": output["in_consensus"],
        "out_of_consensus": {hotkey: output["removed"].get(hotkey) for hotkey in output["out_of_consensus"]},
        "best": None if best is None else {"hotkey": best, "lead": find_lead(output)},
        "low_confidence": output["low_confidence"],
        "alerts": output["alerts"],
        "heatmap": heatmap,
        "answers": [_describe(miner, replayed, output) for miner in observation.facts["miners"]],
        "prompt": prompt,
        "texts": [texts.get(text["digest"]) for text in observation.facts["texts"]],
    }


def _describe(miner: Mapping[str, Any], replayed: Replayed, output: Mapping[str, Any]) -> dict[str, Any]:
    """One miner's row; `text` is the number of its text among the round's distinct ones."""
    hotkey = miner["hotkey"]
    quality = replayed.qualities.get(hotkey)
    return {
        "hotkey": hotkey,
        "status": miner["status"],
        "text": miner["text"],
        "score": output["scores"][hotkey],
        "parts": output["parts"].get(hotkey),
        "quality": None if quality is None else quality.quality,
        "flagged_for": [] if quality is None else list(quality.reasons),
    }
