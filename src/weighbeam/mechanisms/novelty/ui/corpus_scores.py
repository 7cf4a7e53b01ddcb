"""`weighbeam score novelty --corpus`: score each text against a desk's corpus; nothing is inserted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import typer

from weighbeam.cli.score.tables import show_tree
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanism.params import hash_params, make_params
from weighbeam.mechanism.records import Node
from weighbeam.mechanisms.novelty.desk.opening import open_to_check
from weighbeam.mechanisms.novelty.desk.submission import NoveltyQuote
from weighbeam.mechanisms.novelty.explain import explain_similarity, format_tokens
from weighbeam.mechanisms.novelty.mechanism import Novelty
from weighbeam.mechanisms.novelty.observe import REFUSALS, name_senses
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.senses.local import LocalSenses

REFUSED_FIELDS = {
    "max_similarity": None,
    "similarity": None,
    "nearest": None,
    "novelty": None,
    "units": 0,
    "held": False,
}


@dataclass(frozen=True, slots=True)
class CorpusScore:
    """One text: what it would get, or why it would be refused."""

    number: int
    found: NoveltyQuote | WeighbeamError
    params: NoveltyParams
    params_hash: str

    def as_json(self) -> dict[str, Any]:
        if isinstance(self.found, WeighbeamError):
            refused = {"status": "refused", "error": self.found.code, "message": self.found.message}
            return {**REFUSED_FIELDS, **refused, "params_hash": self.params_hash}
        return {**self.found.as_json(), "params_hash": self.params_hash}

    def explain(self) -> Node:
        if isinstance(self.found, WeighbeamError):
            return Node(f"text {self.number + 1}: refused, {self.found.message}")
        head = f"text {self.number + 1}: {self.found.status}, {format_tokens(self.found.units, self.params)} tokens"
        if self.found.status == "duplicate":
            told = f"the same text as {self.found.nearest}, whatever its case, spacing or spelling"
            return Node(head, (Node(told),))
        return Node(head, self._explain(self.found))

    def _explain(self, found: NoveltyQuote) -> tuple[Node, ...]:
        return explain_similarity(found.micro, found.nearest, found.doubts, self.params, found.facts, found.value)


def parse_texts(question: Any) -> list[Any]:
    """The texts of `{text}` or `{texts: […]}`."""
    if isinstance(question, dict) and "text" in question:
        return [question["text"]]
    if isinstance(question, dict) and isinstance(question.get("texts"), list):
        return list(question["texts"])
    raise WeighbeamError("bad_question", "there is no text in it", 'write {"text": "…"} or {"texts": ["…"]}')


def check_texts(place: str, texts: list[Any], overrides: Mapping[str, Any], embedder: str | None) -> list[CorpusScore]:
    params = make_params(Novelty(), overrides)
    assert isinstance(params, NoveltyParams)
    desk = open_to_check(place, params, LocalSenses(embedder) if embedder else None)
    named = hash_params(Novelty(), params, name_senses(params, desk.senses))
    rows = []
    for number, text in enumerate(texts):
        found: NoveltyQuote | WeighbeamError
        try:
            found = desk.check(text)
        except WeighbeamError as fault:
            if fault.code not in REFUSALS:
                raise
            found = fault
        rows.append(CorpusScore(number, found, params, named))
    return rows


def show_rows(rows: list[CorpusScore], explain: bool) -> None:
    for row in rows:
        node = row.explain()
        if explain:
            show_tree(node)
        else:
            typer.echo(node.text)
