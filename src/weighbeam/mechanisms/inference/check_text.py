"""May a model's text be shown? Only if it is short plain text that invents no hotkey and no consensus score."""

from collections.abc import Collection, Mapping

from weighbeam.core.words import clean_text
from weighbeam.mechanisms.inference.find_claims import claims_wrongly
from weighbeam.mechanisms.inference.find_strangers import find_strangers
from weighbeam.mechanisms.inference.narrate import tell_prompt
from weighbeam.mechanisms.untrusted import drop_unseen

MOST_CHARACTERS = 4000
REFUSALS = {
    "empty": "it is empty",
    "too_long": "it is longer than 4,000 characters",
    "not_plain": "it holds control or invisible characters",
    "repeats_marks": "it repeats the marks around the data",
    "unknown_hotkey": "it names a hotkey that is not in the round",
    "wrong_consensus_score": "it names a consensus score that is not the round's",
}


def trim_text(text: str) -> str:
    """Line ends as one character and no blanks around: the form that is checked and shown."""
    return text.replace("\r\n", "\n").strip()


def refuse_text(
    text: str,
    hotkeys: Collection[str],
    consensus: Mapping[str, float | None],
    prompt: str,
    heatmap: str | None = None,
    nonce: str | None = None,
) -> str | None:
    """The code of why a trimmed text may not be shown, or None.

    The sentence that quotes the prompt and the heatmap's path are ours whatever they hold, so they are not looked at.
    """
    if not text:
        return "empty"
    if len(text) > MOST_CHARACTERS:
        return "too_long"
    if drop_unseen(text) != text:
        return "not_plain"
    if nonce is not None and nonce in text.lower():
        return "repeats_marks"
    told = text.replace(tell_prompt(prompt), "", 1)
    told = clean_text(told.replace(heatmap, " ") if heatmap else told)
    if find_strangers(told, hotkeys):
        return "unknown_hotkey"
    return "wrong_consensus_score" if claims_wrongly(told, consensus) else None
