"""Narrative of a round, one sentence per fact in a fixed order (spec § 12). Pure, and never an input of scores."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from weighbeam.core.text import count_noun
from weighbeam.mechanism.untrusted import put_on_one_line
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.score import RejudgedRound

MAX_PROMPT = 120
MAX_NAME = 64
SHORT = 8

Namer = Callable[[str], str]


def narrate_replayed(params: InferenceParams, replayed: RejudgedRound, prompt: str, heatmap: str | None = None) -> str:
    """The narrative of a judged round. A void one gets its first sentence and the reason."""
    output = replayed.write()
    first = _describe_counts(replayed, output)
    if output["void"]:
        return f"{first} Fewer than {count_noun(params.min_miners, 'answer')} arrived, so nothing was scored."
    shorten = name_shortly(list(output["scores"]))
    rest = [
        describe_prompt(prompt),
        _describe_similarity(params, replayed, output),
        _describe_consensus(output, shorten),
        _describe_best(output, shorten),
        _describe_alerts(output, shorten),
        f"The heatmap is {heatmap}." if heatmap else "No heatmap was drawn.",
    ]
    return " ".join([first, *rest])


def describe_prompt(prompt: str) -> str:
    """The one sentence that quotes what a stranger wrote."""
    return f"The prompt asked: “{quote_start(prompt)}”."


def quote_start(prompt: str) -> str:
    """The first 120 characters, on one line and without anything that would end the quotation.

    >>> quote_start("Why is the  sky\\n“blue”?")
    'Why is the sky "blue"?'
    """
    flat = put_on_one_line(prompt).translate({ord(mark): '"' for mark in "“”„‟"})
    return flat if len(flat) <= MAX_PROMPT else flat[:MAX_PROMPT] + "…"


def find_lead(output: Mapping[str, Any]) -> float | None:
    """How many points the best answer is ahead of the next score; None without a best or a next."""
    best, scores = output["best"], output["scores"]
    others = [score for hotkey, score in scores.items() if hotkey != best and score is not None]
    return max(0.0, scores[best] - max(others)) if best is not None and others else None


def name_shortly(hotkeys: Sequence[str]) -> Namer:
    """Long hotkeys by their first 8 characters, whole where two of the round share them.

    >>> shorten = name_shortly(["alice", "5GrwvaEF5zXb26Fz9", "subnet-miner-00001", "subnet-miner-00002"])
    >>> shorten("alice"), shorten("5GrwvaEF5zXb26Fz9"), shorten("subnet-miner-00002")
    ('alice', '5GrwvaEF', 'subnet-miner-00002')
    """
    starts = Counter(hotkey[:SHORT] for hotkey in hotkeys)

    def shorten(hotkey: str) -> str:
        whole = len(hotkey) <= SHORT * 2 or starts[hotkey[:SHORT]] > 1
        return put_on_one_line(hotkey[:MAX_NAME] if whole else hotkey[:SHORT])

    return shorten


def _describe_counts(replayed: RejudgedRound, output: Mapping[str, Any]) -> str:
    asked, received, flagged = len(output["scores"]), len(replayed.given.received), len(output["flagged"])
    reasons = Counter(reason for hotkey in output["flagged"] for reason in replayed.qualities[hotkey].reasons)
    why = f" ({', '.join(f'{name} {count}' for name, count in sorted(reasons.items()))})" if reasons else ""
    met = f"{count_noun(asked, 'miner')} {_were(asked)} asked, {received} answered"
    return f"{met}, {flagged} {_were(flagged)} flagged{why}."


def count_voices(replayed: RejudgedRound) -> int:
    """Over how many voices consensus was measured."""
    judged = replayed.judged
    return len({int(judged.filtered.voice[member]) for member in judged.measured.members})


def _describe_similarity(params: InferenceParams, replayed: RejudgedRound, output: Mapping[str, Any]) -> str:
    mu, sigma, score = (_fix(output[name], 3) for name in ("mu", "sigma", "consensus_score"))
    return (
        f"Similarity is the cosine of embeddings, weighted by quality and vote, "
        f"over {count_noun(count_voices(replayed), 'voice')}: "
        f"mean {mu} plus {params.lambda_factor:g} times deviation {sigma} "
        f"gives a consensus score of {score} against {params.consensus_threshold:g}."
    )


def _describe_consensus(output: Mapping[str, Any], shorten: Namer) -> str:
    verdict = "Consensus was achieved" if output["achieved"] else "Consensus was not achieved"
    inside = _list(output["in_consensus"], shorten)
    outside = _list(output["out_of_consensus"], shorten, output["removed"])
    return f"{verdict}; in it: {inside}; out of it: {outside}."


def _describe_best(output: Mapping[str, Any], shorten: Namer) -> str:
    best, lead = output["best"], find_lead(output)
    if best is None:
        return "No answer is best: none passed the quality gate."
    ahead = "the only one" if lead is None else f"{_fix(lead, 1)} ahead of the next"
    doubt = ", with low confidence" if output["low_confidence"] else ""
    return f"The best answer is {shorten(best)}'s with {output['scores'][best]:.1f} points, {ahead}{doubt}."


def _describe_alerts(output: Mapping[str, Any], shorten: Namer) -> str:
    told = []
    for alert in output["alerts"]:
        named = f" ({_list(alert['hotkeys'], shorten)})" if alert["hotkeys"] else ""
        told.append(f"{alert['severity']}, {alert['code'].replace('_', ' ')}{named}")
    if not told:
        return "There were no alerts."
    return f"{count_noun(len(told), 'alert')} {_were(len(told))} raised: {'; '.join(told)}."


def _list(hotkeys: Sequence[str], shorten: Namer, reasons: Mapping[str, str] | None = None) -> str:
    told = reasons or {}
    names = [shorten(key) + (f" ({told[key].replace('_', ' ')})" if key in told else "") for key in hotkeys]
    return ", ".join(names) if names else "nobody"


def _fix(number: float, decimals: int) -> str:
    """With so many decimals, and no minus before a zero."""
    return f"{round(number, decimals) + 0.0:.{decimals}f}"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"
