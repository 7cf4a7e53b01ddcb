"""What the demo claims of inference holds for every prompt that chance may draw."""

from collections.abc import Mapping
from typing import Any

import pytest

from weighbeam.demo.cast import MINERS, DemoAct
from weighbeam.demo.outcome import name_reason
from weighbeam.demo.subnet import PARAMS
from weighbeam.mechanism.params import make_params
from weighbeam.mechanisms.inference.mechanism import Inference
from weighbeam.mechanisms.inference.miners.handlers import TRICKS
from weighbeam.mechanisms.inference.miners.prepared_answers import find_answers, load_prompts
from weighbeam.senses.local import LocalSenses

INFERENCE = Inference()
ACTS = {part.acts["inference"].name: part.acts["inference"] for part in MINERS}
HONEST = {part.acts["inference"].name for part in MINERS if part.role == "honest"}


def say(act: DemoAct, prompt: str) -> Mapping[str, Any]:
    kind, _, rest = act.answers.partition(":")
    return TRICKS[rest](prompt) if kind == "hostile" else {"text": find_answers(prompt)[int(rest)]}


@pytest.mark.parametrize("prompt", sorted(load_prompts()))
def test_the_claims_hold_whatever_is_asked(prompt: str, senses: LocalSenses) -> None:
    params = make_params(INFERENCE, PARAMS["inference"])
    rows = [{"hotkey": name, "seconds": 0.3, **say(act, prompt)} for name, act in ACTS.items()]
    asked = INFERENCE.parse_question({"prompt": prompt, "prose": True, "answers": rows})
    observation = INFERENCE.observe(params, asked, senses)
    scored = INFERENCE.score(params, observation)
    earned = scored.summary["emissions"]
    reasons = {score.hotkey: name_reason(score, scored) for score in scored.scores}
    assert all(score.status == "valid" and score.value > 30 for score in scored.scores if score.hotkey in HONEST)
    assert sum(earned[name] for name in HONEST) > 0.55 * sum(earned.values())
    assert {name for name in ACTS if not earned[name]} >= {name for name, act in ACTS.items() if act.caught}
    assert reasons["copycat"] == reasons["voice-1"] == "shares pay"
    assert earned["copycat"] < max(earned[name] for name in HONEST)
    assert {reasons[name] for name in ("garbage-1", "garbage-2", "garbage-3", "instant")} == {"off_topic"}
    assert (reasons["echo"], reasons["giant"]) == ("echo", "too_large")
    assert reasons["stuffing"] in ("echo", "off_topic", "not_prose")
