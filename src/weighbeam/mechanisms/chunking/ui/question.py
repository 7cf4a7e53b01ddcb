"""Build a chunking question from a JSON file, a text, a folder of chunkings or named chunkers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.support.json_files import is_folder, load_json, load_text
from weighbeam.mechanisms.chunking.check import ReferenceDocument
from weighbeam.mechanisms.chunking.params import MAX_DOCUMENT, ChunkingParams
from weighbeam.mechanisms.chunking.task import parse_limits
from weighbeam.senses.ports.protocols import Senses

MAX_TEXT_BYTES = 4 * MAX_DOCUMENT


def gather_question(file: Path, folder: Path | None, limits: Mapping[str, Any]) -> dict[str, Any]:
    """The question in `file`, with the limits given on the command line and the chunkings of `folder`."""
    if file.suffix.lower() == ".json":
        question = load_json(file)
        if not isinstance(question, dict):
            raise WeighbeamError(
                "bad_question", f"{file} is not a JSON object", "the guide 'Score a chunking' shows the form"
            )
    else:
        question = {"document": ReferenceDocument(load_text(file, MAX_TEXT_BYTES)).text}
    question |= {name: value for name, value in limits.items() if value is not None}
    if folder is not None:
        _answers(question).extend(_load_folder(folder))
    return question


def add_chunkers(question: dict[str, Any], names: list[str], senses: Senses, timed: bool) -> None:
    """Let each named chunker cut the document; `timed` ones are held to the soft time limit as a miner would be."""
    if not names:
        if not _answers(question):
            raise WeighbeamError(
                "no_answers",
                "there is nothing to score",
                "add --chunker NAME, --chunks FOLDER, or answers in a JSON file",
            )
        return
    from weighbeam.mechanisms.chunking.miners.cuts import cut_timed, name_chunkers

    limits = parse_limits(question, ChunkingParams())
    chunkers = name_chunkers(names, limits)
    document = ReferenceDocument(question.get("document")).text
    for chunker in chunkers:
        pieces, seconds = cut_timed(chunker, document, limits, senses)
        answer = {"hotkey": chunker.name, "chunks": pieces, "seconds": seconds if timed else 0.0}
        _answers(question).append(answer)


def _answers(question: dict[str, Any]) -> list[Any]:
    answers: Any = question.setdefault("answers", [])
    if not isinstance(answers, list):
        raise WeighbeamError("no_answers", "answers is not a list", "the guide 'Score a chunking' shows the form")
    return answers


def _load_folder(folder: Path) -> list[dict[str, Any]]:
    """One answer per JSON file: a list of strings, or `{chunks, seconds?}`; its name is the file's."""
    if not is_folder(folder):
        raise WeighbeamError("no_such_folder", f"{folder} is not a folder", "give a folder of JSON files")
    answers: list[dict[str, Any]] = []
    for path in sorted(folder.glob("*.json")):
        data = load_json(path)
        given = data if isinstance(data, dict) else {"chunks": data}
        answers.append({"hotkey": path.stem, **given})
    if not answers:
        raise WeighbeamError(
            "no_answers", f"{folder} has no JSON file", "put one JSON list of strings per chunking there"
        )
    return answers
