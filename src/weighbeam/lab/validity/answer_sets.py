"""Labelled rounds in the formats of public sets of answers: right and wrong ones, AlpacaEval, MT-bench.

All are answers to a prompt, so they serve any mechanism whose question is `{prompt, answers: [{hotkey, text}]}`. Sets
do not say how long an answer took: all have the same time.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from weighbeam.lab.validity.kinds import RowFormat, has_fields
from weighbeam.lab.validity.records import DataRecord

SECONDS = 2.0
TIE = 1.5
"""A preference of AlpacaEval goes from 1, the first output, to 2, the second."""
KEPT = ("pairs", "good", "bad", "honest")


def make_question(prompt: str, answers: Mapping[str, str], **more: Any) -> dict[str, Any]:
    """
    >>> make_question("Why?", {"ada": "Rain."})
    {'prompt': 'Why?', 'answers': [{'hotkey': 'ada', 'text': 'Rain.', 'seconds': 2.0}]}
    """
    rows = [{"hotkey": name, "text": text, "seconds": SECONDS} for name, text in answers.items()]
    return {"prompt": prompt, **more, "answers": rows}


def read_text(record: DataRecord, name: str) -> str:
    value = record.fields.get(name)
    if not isinstance(value, str):
        raise record.refuse(f"{name} must be a string", "correct the line")
    return value


def _convert_named(records: Sequence[DataRecord]) -> Iterable[DataRecord | None]:
    """`{prompt, answers: {name: text}, pairs?, good?, bad?}`; every right answer is better than every wrong one."""
    for record in records:
        answers, fields = record.fields["answers"], record.fields
        if not all(isinstance(text, str) for text in answers.values()):
            raise record.refuse("answers must map names to texts", 'write "answers": {"name": "text"}')
        labels = {name: fields[name] for name in KEPT if fields.get(name) is not None}
        good, bad = labels.get("good", []), labels.get("bad", [])
        if "pairs" not in labels and isinstance(good, list) and isinstance(bad, list):
            labels["pairs"] = list(product(good, bad))
        prose = {"prose": fields["prose"]} if "prose" in fields else {}
        yield record.change({"question": make_question(read_text(record, "prompt"), answers, **prose), **labels})


@dataclass(slots=True)
class ComparedAnswers:
    """Answers to one prompt, and votes between them: positive for the first of two names in order."""

    record: DataRecord
    prompt: str | None = None
    answers: dict[str, str] = field(default_factory=dict)
    votes: dict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))

    def add(self, name: str, text: str) -> None:
        self.answers.setdefault(name, text)

    def vote(self, first: str, second: str, lead: float) -> None:
        """`lead` above 0 is a vote for the first."""
        if first <= second:
            self.votes[first, second] += lead
        else:
            self.votes[second, first] -= lead

    def make(self, name: str) -> DataRecord | None:
        """None if nobody preferred anything, or an answer is missing."""
        pairs = [pair if lead > 0 else pair[::-1] for pair, lead in self.votes.items() if lead]
        pairs = [pair for pair in pairs if set(pair) <= self.answers.keys() and pair[0] != pair[1]]
        if not pairs or self.prompt is None:
            return None
        told = {"set": name, "question": make_question(self.prompt, self.answers), "pairs": pairs}
        return self.record.change(told)


def _convert_alpaca(records: Sequence[DataRecord]) -> Iterable[DataRecord | None]:
    """Outputs (`model_outputs.json`) and annotations, which hold both outputs; several annotators vote."""
    rounds: dict[str, ComparedAnswers] = {}
    for record in records:
        prompt = read_text(record, "instruction")
        found = rounds.setdefault(prompt, ComparedAnswers(record, prompt))
        if "output" in record.fields:
            found.add(read_text(record, "generator"), read_text(record, "output"))
            continue
        names = [read_text(record, f"generator_{side}") for side in (1, 2)]
        for side, name in enumerate(names, start=1):
            found.add(name, read_text(record, f"output_{side}"))
        preference = record.fields["preference"]
        if preference is not None:
            found.vote(names[0], names[1], TIE - _read_preference(record, preference))
    return [one.make("alpaca-eval") for one in rounds.values()]


def _read_preference(record: DataRecord, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 2:
        raise record.refuse(f"preference {str(value)[:20]} is not from 1 to 2", "correct the line")
    return float(value) or TIE  # the first version wrote 0 for a tie


def _convert_bench(records: Sequence[DataRecord]) -> Iterable[DataRecord | None]:
    """The first turn of MT-bench: questions, answers of models, and judgments, which may bring both with them."""
    rounds: dict[Any, ComparedAnswers] = {}
    for record in records:
        number = record.fields["question_id"]
        if isinstance(number, dict | list):
            raise record.refuse("question_id must be a number", "correct the line")
        found = rounds.setdefault(number, ComparedAnswers(record))
        if "choices" in record.fields:
            found.add(read_text(record, "model_id"), _dig(record, "choices", 0, "turns", 0))
        elif "turns" in record.fields:
            found.prompt = _dig(record, "turns", 0)
        elif record.fields.get("turn", 1) == 1:
            _count_judgment(found, record)
    return [one.make("mt-bench") for one in rounds.values()]


def _count_judgment(found: ComparedAnswers, record: DataRecord) -> None:
    """Of a model that judged twice, with the answers swapped, both judgments must agree."""
    sides = ("model_a", "model_b") if "model_a" in record.fields else ("model_1", "model_2")
    names = [read_text(record, side) for side in sides]
    for name, talk in zip(names, ("conversation_a", "conversation_b"), strict=True):
        if talk in record.fields:
            found.prompt = found.prompt or _dig(record, talk, 0, "content")
            found.add(name, _dig(record, talk, 1, "content"))
    winners = {record.fields.get(name) for name in ("winner", "g1_winner", "g2_winner") if name in record.fields}
    won = winners.pop() if len(winners) == 1 else "tie"
    if won in sides:
        found.vote(names[0], names[1], 1.0 if won == sides[0] else -1.0)


def _dig(record: DataRecord, *path: str | int) -> str:
    """A text inside lists and objects."""
    value: Any = record.fields
    try:
        for step in path:
            value = value[step]
    except (KeyError, IndexError, TypeError):
        value = None
    if not isinstance(value, str):
        raise record.refuse(f"{'.'.join(map(str, path))} must be a string", "correct the line")
    return value


def _is_alpaca(fields: Mapping[str, Any]) -> bool:
    output = has_fields("instruction", "output", "generator")
    return output(fields) or has_fields("instruction", "output_1", "output_2", "preference")(fields)


def _is_bench(fields: Mapping[str, Any]) -> bool:
    parts = (("turns",), ("model_id", "choices"), ("model_a", "model_b", "winner"), ("model_1", "model_2", "g1_winner"))
    return "question_id" in fields and any(has_fields(*names)(fields) for names in parts)


def _is_named(fields: Mapping[str, Any]) -> bool:
    return "prompt" in fields and isinstance(fields.get("answers"), dict)


ANSWER_FORMATS = (
    RowFormat("named-answers", _is_named, _convert_named),
    RowFormat("alpaca-eval", _is_alpaca, _convert_alpaca),
    RowFormat("mt-bench", _is_bench, _convert_bench),
)
