"""Compare chunkers over a folder of documents, each with its questions and true borders beside it, if it has any.

tides.txt  tides.json  bread.md  bread.json
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.support.json_files import load_json
from weighbeam.mechanisms.chunking.ui.question import add_chunkers, gather_question
from weighbeam.senses.ports.protocols import Senses

SUFFIXES = (".txt", ".md", ".markdown")
MAX_DOCUMENTS = 1000
FIGURES = ("recall", "precision", "iou")
BORDERS = ("pk", "window_diff", "f1")


@dataclass(frozen=True, slots=True)
class ComparedDocument:
    """One document, and what each chunker's cuts of it came to: the rows of its report."""

    name: str
    characters: int
    report: Mapping[str, Any]

    @property
    def questions(self) -> int:
        return max((row["retrieval"]["questions"] for row in self.report["answers"] if "retrieval" in row), default=0)

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "characters": self.characters, "questions": self.questions, **self.report}


@dataclass(frozen=True, slots=True)
class ChunkerComparison:
    """Chunkers by their means over all documents, and the documents."""

    documents: tuple[ComparedDocument, ...]

    def summarise(self) -> list[dict[str, Any]]:
        """One row per chunker: means over the documents that it cut validly. The best at retrieval come first, or of
        documents without questions the best paid."""
        names = dict.fromkeys(row["hotkey"] for one in self.documents for row in one.report["answers"])
        rows = [self._summarise(name) for name in names]
        return sorted(rows, key=_order)

    def _summarise(self, name: str) -> dict[str, Any]:
        found = [row for one in self.documents for row in one.report["answers"] if row["hotkey"] == name]
        valid = [row for row in found if row["status"] == "valid"]
        told: dict[str, Any] = {"chunker": name, "valid": len(valid), "documents": len(found)}
        told["reward"] = _average(row["reward"] for row in valid)
        told["place"] = _average(row["place"] for row in valid if row["place"] is not None)
        told["chunks"] = _average(float(len(row["spans"])) for row in valid)
        retrieved = [row["retrieval"] for row in valid if "retrieval" in row]
        if retrieved:
            told["at"] = [_average_depth([row["at"][place] for row in retrieved]) for place in _list_depths(retrieved)]
            told["within"] = _average_all([row["within"] for row in retrieved], FIGURES)
            told["within"]["tokens"] = retrieved[0]["within"]["tokens"]
        borders = [row["borders"] for row in valid if "borders" in row]
        return told | ({"borders": _average_all(borders, BORDERS)} if borders else {})

    def as_json(self) -> dict[str, Any]:
        first = self.documents[0].report
        return {
            "chunkers": self.summarise(),
            "documents": [one.as_json() for one in self.documents],
            "senses": first["senses"],
            "params_hash": first["params_hash"],
        }


def compare_folder(
    folder: Path, limits: Mapping[str, Any], names: list[str], senses: Senses, judge: Callable[[Any], Mapping[str, Any]]
) -> ChunkerComparison:
    """Let each named chunker cut every document of a folder; `judge` scores a question and gives its report."""
    if not names:
        raise WeighbeamError("no_answers", "no chunker is named", "add --chunker NAME or --chunker all")
    documents = []
    for file in list_documents(folder):
        question = gather_question(file, None, limits) | load_questions(file.with_suffix(".json"), needed=False)
        add_chunkers(question, names, senses, timed=False)
        documents.append(ComparedDocument(file.name, len(question["document"]), judge(question)))
    return ChunkerComparison(tuple(documents))


def refuse_for_folder(given: Mapping[str, Any]) -> None:
    """Options that only a single document takes."""
    named = [name for name, value in given.items() if value is not None]
    if named:
        told = f"{', '.join(named)} cannot be used with a folder"
        raise WeighbeamError("bad_option", told, "put questions beside each document as NAME.json; use --chunker")


def list_documents(folder: Path) -> list[Path]:
    found = sorted(path for path in folder.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file())
    if not found:
        raise WeighbeamError("no_documents", f"{folder} holds no document", f"put {', '.join(SUFFIXES)} there")
    if len(found) > MAX_DOCUMENTS:
        raise WeighbeamError("no_documents", f"{folder} holds {len(found):,} documents", f"give ≤ {MAX_DOCUMENTS:,}")
    return found


def load_questions(file: Path, needed: bool = True) -> dict[str, Any]:
    """`{questions?, borders?}` of a file; nothing of one that is not there and need not be."""
    if not needed and not file.exists():
        return {}
    data = load_json(file)
    if not isinstance(data, dict) or not data.keys() & {"questions", "borders"}:
        told = f"{file} has neither questions nor borders"
        raise WeighbeamError("bad_questions", told, 'write {"questions": [{"q": "…", "spans": [[120, 164]]}]}')
    return {name: data[name] for name in ("questions", "borders") if name in data}


def _order(row: Mapping[str, Any]) -> tuple[bool, float, float, str]:
    recall = row["within"]["recall"] if "within" in row else 0.0
    return not row["valid"], -recall, -(row["reward"] or 0.0), row["chunker"]


def _list_depths(rows: Sequence[Mapping[str, Any]]) -> Iterator[int]:
    yield from range(len(rows[0]["at"]))


def _average_depth(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    return {"k": rows[0]["k"], **_average_all(rows, FIGURES)}


def _average_all(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, Any]:
    return {name: _average(row[name] for row in rows) for name in names}


def _average(values: Iterator[float]) -> float | None:
    found = list(values)
    return fmean(found) if found else None
