"""The JSON of `weighbeam score keyword-recall`: a question in, a report out."""

from typing import Any

from keyword_recall.task import read_keywords
from weighbeam.mechanisms.contract import Answer, Asked, Group, Scored, Task
from weighbeam.mechanisms.read_rows import read_name_and_seconds, read_rows, refuse_doubles

SHAPE = '{"keywords": ["tide"], "answers": [{"hotkey": "me", "text": "…"}]}'


def read_question(data: Any) -> Asked:
    answers = []
    for index, row in enumerate(read_rows(data, SHAPE)):
        hotkey, seconds = read_name_and_seconds(row, index, SHAPE)
        answers.append(Answer(hotkey, {"text": row.get("text")}, seconds))
    hotkeys = tuple(answer.hotkey for answer in answers)
    refuse_doubles(hotkeys)
    return Asked(Task("what-if", {"keywords": read_keywords(data)}), Group(hotkeys), tuple(answers), "what-if")


def report_round(scored: Scored) -> dict[str, Any]:
    return {"answers": [{"hotkey": s.hotkey, "value": s.value, "parts": s.parts} for s in scored.scores]}
