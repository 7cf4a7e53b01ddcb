"""The narrative of a round: a model's words if there is a model and they pass, else the deterministic ones (§ 12).

It is written after scores are durable, and it is an input of nothing.
"""

from collections.abc import Mapping

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.abilities import Told
from weighbeam.mechanisms.contract import Observation
from weighbeam.mechanisms.inference.check_text import REFUSALS, refuse_text, trim_text
from weighbeam.mechanisms.inference.gather_facts import gather_facts
from weighbeam.mechanisms.inference.narrate import narrate_replayed
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.score import replay_round
from weighbeam.mechanisms.inference.write_request import write_request
from weighbeam.mechanisms.untrusted import put_on_one_line
from weighbeam.senses.ports import Narrator

MOST_FAULT = 200


def tell_round(
    params: InferenceParams,
    observation: Observation,
    prompt: str,
    texts: Mapping[str, str],
    heatmap: str | None,
    narrator: Narrator | None,
    nonce: str,
) -> Told:
    """Tell a recorded round; a fault is a code of `REFUSALS`, or that of the narrator's error.

    `texts` are the answers by digest; `nonce` is 16 random hex digits, new for each call.
    """
    replayed = replay_round(params, observation)
    plain = narrate_replayed(params, replayed, prompt, heatmap)
    if narrator is None or replayed.judged.void:
        return Told(plain)
    facts = gather_facts(params, observation, replayed, prompt, texts, heatmap)
    request = write_request(facts, nonce)
    try:
        text = trim_text(narrator.tell(request))
    except WeighbeamError as fault:
        return _fall_back(plain, fault.code, fault.message)
    hotkeys = [row["hotkey"] for row in facts["answers"]]
    refusal = refuse_text(text, hotkeys, facts["consensus"], prompt, heatmap, nonce)
    return Told(text, narrator.id) if refusal is None else _fall_back(plain, refusal, REFUSALS[refusal])


def _fall_back(plain: str, code: str, reason: str) -> Told:
    why = put_on_one_line(reason)[:MOST_FAULT].rstrip(" .")
    return Told(f"{plain} The model's narrative was not used: {why}.", fault=code)
