"""What happened in a round, one sentence each and always in this order (spec § 12). Pure, and an input of nothing."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weighbeam.mechanisms.contract import Observation
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.score import Replayed, replay_round

MOST_PROMPT = 120
SHORT = 8


def narrate_round(params: InferenceParams, observation: Observation, prompt: str, heatmap: str | None = None) -> str:
    """The narrative of a recorded round. A void one gets its first sentence and the reason."""
    replayed = replay_round(params, observation)
    output = replayed.write()
    first = _tell_counts(observation, replayed, output)
    if output["void"]:
        return f"{first} Fewer than {params.min_miners} answers arrived, so nothing was scored."
    rest = [
        f"The prompt asked: “{quote_start(prompt)}”.",
        _tell_similarity(params, replayed, output),
        _tell_consensus(output),
        _tell_best(output),
        *_tell_alerts(output),
        f"The heatmap is {heatmap}." if heatmap else "No heatmap was drawn.",
    ]
    return " ".join([first, *rest])


def quote_start(prompt: str) -> str:
    """The first 120 characters, on one line.

    >>> quote_start("Why is the  sky\\nblue?")
    'Why is the sky blue?'
    """
    flat = " ".join(prompt.split())
    return flat if len(flat) <= MOST_PROMPT else flat[: MOST_PROMPT - 1] + "…"


def _tell_counts(observation: Observation, replayed: Replayed, output: Mapping[str, Any]) -> str:
    asked, received = len(observation.facts["miners"]), len(replayed.given.received)
    reasons = Counter(reason for hotkey in output["flagged"] for reason in replayed.qualities[hotkey].reasons)
    why = f" ({', '.join(f'{name} {count}' for name, count in sorted(reasons.items()))})" if reasons else ""
    return f"{asked} miners were asked, {received} answered, {len(output['flagged'])} were flagged{why}."


def _tell_similarity(params: InferenceParams, replayed: Replayed, output: Mapping[str, Any]) -> str:
    filtered = replayed.judged.filtered
    voices = len({int(filtered.voice[member]) for member in replayed.judged.measured.members})
    return (
        f"Similarity is the cosine of embeddings, weighted by quality, over {count_noun(voices, 'voice')}: "
        f"mean {output['mu']:.3f} plus {params.lambda_factor:g} times deviation {output['sigma']:.3f} "
        f"gives a consensus score of {output['consensus_score']:.3f} against {params.consensus_threshold:g}."
    )


def _tell_consensus(output: Mapping[str, Any]) -> str:
    inside, outside = output["in_consensus"], output["out_of_consensus"]
    verdict = "Consensus was achieved" if output["achieved"] else "Consensus was not achieved"
    return f"{verdict}; in it: {_name(inside)}; out of it: {_name(outside, output['removed'])}."


def _tell_best(output: Mapping[str, Any]) -> str:
    best = output["best"]
    if best is None:
        return "No answer is best: none passed the quality gate."
    scores = output["scores"]
    others = [score for hotkey, score in scores.items() if hotkey != best and score is not None]
    lead = scores[best] - max(others, default=0.0)
    doubt = ", with low confidence" if output["low_confidence"] else ""
    return f"The best answer is {_shorten(best)}'s with {scores[best]:.1f} points, {lead:.1f} ahead of the next{doubt}."


def _tell_alerts(output: Mapping[str, Any]) -> Iterator[str]:
    for alert in output["alerts"]:
        named = f" ({_name(alert['hotkeys'])})" if alert["hotkeys"] else ""
        yield f"Alert, {alert['severity']}: {alert['code'].replace('_', ' ')}{named}."
    if not output["alerts"]:
        yield "There were no alerts."


def _name(hotkeys: Sequence[str], reasons: Mapping[str, str] | None = None) -> str:
    told = reasons or {}
    names = [_shorten(key) + (f" ({told[key].replace('_', ' ')})" if key in told else "") for key in hotkeys]
    return ", ".join(names) if names else "nobody"


def _shorten(hotkey: str) -> str:
    return hotkey if len(hotkey) <= SHORT * 2 else hotkey[:SHORT]


def count_noun(number: int, noun: str) -> str:
    """
    >>> count_noun(1, "voice"), count_noun(0, "voice")
    ('1 voice', '0 voices')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
