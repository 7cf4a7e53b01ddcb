"""The JSON of `weighbeam score inference`: parse a question, report its result and what it means (spec § 13)."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from weighbeam.mechanism.parse import parse_answer_rows, parse_name_and_seconds, refuse_doubles
from weighbeam.mechanism.records import Answer, Asked, Group, Observation, Scored, Task
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.reference.kinds import parse_reference
from weighbeam.mechanisms.inference.score import replay_round
from weighbeam.mechanisms.inference.task import FIELDS, MAX_MODEL, MAX_TEMPERATURE, MAX_TOKENS, parse_body
from weighbeam.mechanisms.inference.tolerance import exceeds


class ChatMessage(BaseModel):
    role: Literal["system", "user", "assistant"]
    content: str


class InferenceQuestion(BaseModel):
    """A prompt, or messages, of which the user's last is judged by."""

    prompt: Annotated[str | None, Field(examples=["Why does bread rise?"])] = None
    messages: Annotated[list[ChatMessage] | None, Field(fail_fast=True, description="the conversation so far")] = None
    prose: Annotated[bool | None, Field(description="false: the answer need not be prose")] = None
    max_tokens: Annotated[int | None, Field(ge=1, le=MAX_TOKENS)] = None
    temperature: Annotated[float | None, Field(ge=0, le=MAX_TEMPERATURE)] = None
    model: Annotated[str | None, Field(max_length=MAX_MODEL, description="a wish that miners receive")] = None


def describe_outcome(output: Mapping[str, Any], params: InferenceParams) -> list[str]:
    """The sentences that apply to an output of `inference.score`."""
    if output["void"]:
        fewer = f"Fewer than {params.min_miners} answers arrived."
        return [f"{fewer} Nothing was scored, no standing changed."]
    return [_describe_consensus(output, params), *_describe_alerts(output)]


def _describe_consensus(output: Mapping[str, Any], params: InferenceParams) -> str:
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


def _describe_alerts(output: Mapping[str, Any]) -> list[str]:
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


FILE_KEYS: Mapping[str, Sequence[str]] = {
    "": (*FIELDS, "answers"),
    "answers": ("hotkey", "text", "seconds", "confidence", "entity"),
}
SHAPE = '{"prompt": "…", "answers": [{"hotkey": "a", "text": "…", "seconds": 1.5}]}'


def parse_question(data: Any) -> Asked:
    """One round out of `{prompt | messages, prose?, reference?, answers: [{hotkey, text, seconds, confidence?,
    entity?}]}`."""
    rows = parse_answer_rows(data, SHAPE)
    answers = tuple(_parse_answer(row, index) for index, row in enumerate(rows))
    hotkeys = tuple(answer.hotkey for answer in answers)
    refuse_doubles(hotkeys)
    body = {name: data[name] for name in FIELDS if data.get(name) is not None}
    owners = [row.get("entity") for row in rows]
    entities = {key: str(owner) for key, owner in zip(hotkeys, owners, strict=True) if owner is not None}
    parse_body(body)
    if "reference" in body:
        parse_reference(body["reference"])
    return Asked(Task("what-if", body), Group(hotkeys), answers, "what-if", entities)


def _parse_answer(row: Any, index: int) -> Answer:
    hotkey, seconds = parse_name_and_seconds(row, index, SHAPE)
    return Answer(hotkey, {"text": row.get("text"), "confidence": row.get("confidence")}, seconds)


def report_round(params: InferenceParams, observation: Observation, scored: Scored) -> dict[str, Any]:
    """The output of stage `inference.score`, what it means in words, and a row per answer."""
    replayed = replay_round(params, observation)
    output = replayed.write()
    seconds = {miner["hotkey"]: miner["seconds"] for miner in observation.facts["miners"]}
    rows = []
    for score in scored.scores:
        quality = replayed.qualities.get(score.hotkey)
        rows.append(
            {
                "hotkey": score.hotkey,
                "status": score.status,
                "score": score.value,
                "emission": output["emissions"][score.hotkey],
                "reasons": list(score.reasons),
                "parts": score.parts,
                "quality": None if quality is None else quality.as_json(),
                "seconds": seconds[score.hotkey],
            }
        )
    return {
        **output,
        "reading": describe_outcome(output, params),
        "answers": rows,
        "copies": scored.summary["copies"],
        "senses": observation.facts["senses"],
        "faults": observation.facts["faults"],
    }
