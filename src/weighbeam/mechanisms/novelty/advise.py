"""Meanings of a score's reasons, and advice for a contributor: lost pay of texts that are near, repeated, held or
refused.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from weighbeam.core.quantise import MILLION
from weighbeam.mechanism.advice import average, choose_advice, count, shown
from weighbeam.mechanism.records import Advice, ScorePair
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.reward import reward_units

MEANINGS = {
    "not_new": "A contribution is too similar to a known one: say something new.",
    "duplicate": "The same text was submitted before, apart from case or spacing: submit each text once.",
    "held": "A contribution seems implausible and waits for an operator: write plain sentences.",
    "refused": "A contribution seems implausible and is not accepted: write plain sentences.",
    "implausible": "A contribution seems implausible and is not accepted: write plain sentences.",
    "bad_text": "A contribution is not text: send it as a JSON string of readable characters.",
    "too_short": "A contribution has fewer words than min_words: say it in a whole sentence.",
    "too_long": "A contribution has more characters than max_chars: split it.",
    "timeout": "Nothing arrived in time: answer before the timeout.",
    "unreachable": "The endpoint could not be reached: keep the address you announced up and open.",
    "error": "The endpoint answered with an error: look into your log.",
    "malformed": "The answer is not the JSON asked for: send `contributions`, a list of texts.",
    "too_large": "The answer is larger than allowed: send fewer or shorter texts.",
    "validator_error": "The validator could not measure it: nothing is charged, and there is nothing to do.",
}
NOT_NEW = "contributions that are not new, or not meant"
SUSPICIOUS = dict.fromkeys(("duplicate", "held", "refused", "implausible", "too_large"), NOT_NEW)


REFUSED = ("refused", "implausible", "bad_text", "too_short", "too_long", "malformed", "too_large")
Row = Mapping[str, Any]


def advise_contributor(params: NoveltyParams, pairs: Sequence[ScorePair]) -> tuple[Advice, ...]:
    """Advice per round. It does not compare with others: each is paid for novelty, not for a place."""
    rows: list[Row] = [row for own, _ in pairs for row in (own.parts or {}).get("contributions", ())]
    rounds = max(1, len(pairs))
    typical = average([float(row["units"]) for row in rows if row["status"] == "paid"])
    found = [
        _advise_near(rows, rounds, params),
        _advise_same(rows, rounds, typical, params),
        _advise_held(rows, rounds, params),
    ]
    return choose_advice(
        [*found, *_advise_refused(pairs, typical or float(reward_units(MILLION // 2, params)), params)]
    )


def _advise_near(rows: Sequence[Row], rounds: int, params: NoveltyParams) -> Advice:
    """One step farther from everything known."""
    paid = [row for row in rows if row["status"] == "paid"]
    step = round(params.similarity_step * MILLION)
    read = [row.get("similarity", row["micro"]) for row in paid]
    pays = [reward_units(max(-MILLION, similarity - step), params) for similarity in read]
    gain = sum(max(0, pay - row["units"]) for pay, row in zip(pays, paid, strict=True)) / rounds
    near = average([similarity / MILLION for similarity in read])
    nothing = sum(not row["units"] for row in paid)
    text = (
        f"Your {len(paid)} contributions had a similarity of {near:.3f} to the nearest known text on average, and "
        f"{nothing} earned nothing for it; {params.similarity_step:g} less would bring "
        f"{_format(gain, params)} tokens per round"
    )
    return Advice("Say what is farther from what is known", text, float(gain))


def _advise_same(rows: Sequence[Row], rounds: int, typical: float, params: NoveltyParams) -> Advice:
    same = [row for row in rows if row["status"] == "duplicate"]
    gain = typical * len(same) / rounds
    text = f"{len(same)} of your {len(rows)} contributions were duplicates and earned nothing: submit each text once"
    return Advice(
        "Do not submit a text twice",
        f"{text}; new ones like your others would bring {_format(gain, params)} tokens per round",
        gain,
    )


def _advise_held(rows: Sequence[Row], rounds: int, params: NoveltyParams) -> Advice:
    held = [row for row in rows if row["status"] == "held"]
    gain = sum(row["units"] for row in held) / rounds
    text = (
        f"{len(held)} of your {len(rows)} contributions are held with {_format(gain, params)} tokens per round: "
        f"{MEANINGS['held']}"
    )
    return Advice("Write plain sentences", text.rstrip("."), gain)


def _advise_refused(pairs: Sequence[ScorePair], typical: float, params: NoveltyParams) -> list[Advice]:
    found = []
    for code in REFUSED:
        hit = [own for own, _ in pairs if code in own.reasons]
        if hit:
            gain = typical * len(hit) / len(pairs)
            text = f"{count(hit, pairs)} had something refused as {code}: {MEANINGS[code]} That cost"
            tokens = _format(gain, params)
            found.append(Advice(f"Do not be refused as {code}", f"{text} {tokens} tokens per round", gain))
    return found


def _format(units: float, params: NoveltyParams) -> str:
    return shown(units / params.base_units)
