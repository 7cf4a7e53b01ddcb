"""Score a question as a round would, without a database, and explain each answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from weighbeam.charts.heatmap import Heatmap
from weighbeam.charts.picture import ChartPicture
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.extras import explain_extras
from weighbeam.engine.question_keys import name_misspelt, refuse_foreign
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params, hash_params, make_params
from weighbeam.mechanism.records import Answer, Narrative, Node, Observation, Scored
from weighbeam.mechanism.untrusted import put_on_one_line
from weighbeam.senses.ports.protocols import Narrator, Senses

MAX_CELL = 60
OWN_COLUMNS = ("hotkey", "status", "value", "best", "reasons")


@dataclass(frozen=True, slots=True, repr=False)
class ScoreResult:
    """A round, observed and scored: of a question, or out of a journal with the replies as they came.

    A notebook shows it as a table. `scored.scores` are the scores, `observation` what they follow from, `ignored` the
    keys of the question that nothing reads, if the mechanism knows.
    """

    mechanism: Mechanism
    params: Params
    observation: Observation
    scored: Scored
    answers: tuple[Answer, ...] = ()
    ignored: tuple[str, ...] | None = None

    def value(self, hotkey: str) -> float | None:
        """The score of an answer; None if it is unscored, which is never the miner's fault."""
        for score in self.scored.scores:
            if score.hotkey == hotkey:
                return score.value
        known = ", ".join(score.hotkey for score in self.scored.scores)
        raise WeighbeamError("unknown_hotkey", f"no answer is called {hotkey!r}", f"use one of: {known}")

    @property
    def best(self) -> str | None:
        """The hotkey whose answer an asker would get; None if no answer is valid."""
        return self.mechanism.best(self.params, self.observation, self.scored)

    def table(self) -> list[dict[str, Any]]:
        """One row per answer, in the order of the question, ready for a data frame or a chart.

        Every row has `hotkey`, `status`, `value`, `best`, `reasons` (one text), then each part of the score that is a
        number or a word; None where an answer lacks the part.
        """
        parts = [_pick_scalars(score.parts or {}) for score in self.scored.scores]
        names = dict.fromkeys(name for row in parts for name in row if name not in OWN_COLUMNS)
        best = self.best
        return [
            {
                "hotkey": score.hotkey,
                "status": score.status,
                "value": score.value,
                "best": score.hotkey == best,
                "reasons": ", ".join(score.reasons),
                **{name: row.get(name) for name in names},
            }
            for score, row in zip(self.scored.scores, parts, strict=True)
        ]

    def explain(self, hotkey: str) -> Node:
        """How a score comes about: a tree whose arithmetic a person can check. `print` shows it as text."""
        self.value(hotkey)
        return self.mechanism.explain(self.params, self.observation, self.scored, hotkey)

    def report(self) -> dict[str, Any]:
        """The JSON of `weighbeam score MECHANISM FILE --json`."""
        report = self.mechanism.report(self.params, self.observation, self.scored)
        senses = self.observation.facts.get("senses", {})
        return {
            "mechanism": self.mechanism.name,
            **report,
            "params_hash": hash_params(self.mechanism, self.params, senses),
            **({} if self.ignored is None else {"ignored": list(self.ignored)}),
        }

    @explain_extras()
    def pictures(self, hotkey: str) -> tuple[ChartPicture, ...]:
        """Pictures of one answer, as its page on the dashboard shows them; a notebook shows each. Few have any."""
        self.value(hotkey)
        drawn = self.mechanism.page.answer_pictures
        return () if drawn is None else tuple(drawn(self.params, self.observation, self.scored, hotkey))

    def draw(self, name: str) -> Heatmap:
        """The picture of the round; `no_picture` if the mechanism draws none, or there is nothing to draw."""
        drawn = self.mechanism.draw(self.params, self.observation, name)
        if drawn is None:
            raise WeighbeamError("no_picture", "there is nothing to draw", "give at least one answer")
        return drawn

    def tell(self, picture: str | None, narrator: Narrator | None, nonce: str) -> Narrative:
        """The round in words; `no_narrative` if the mechanism tells none."""
        return self.mechanism.tell(self.params, self.observation, picture, narrator, nonce)

    def __repr__(self) -> str:
        shown = ", ".join(f"{_shorten(s.hotkey)} {_format_cell(s.value)}" for s in self.scored.scores[:3])
        rest = len(self.scored.scores) - 3
        return f"<ScoreResult of {self.mechanism.name}: {shown}{f' and {rest} more' if rest > 0 else ''}>"

    def _repr_html_(self) -> str:
        """The table for a notebook. Hotkeys and words come from miners: each cell is escaped."""
        rows = self.table()
        head = "".join(f"<th>{escape(_shorten(name))}</th>" for name in rows[0]) if rows else ""
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(_format_cell(cell))}</td>' for cell in row.values())}</tr>" for row in rows
        )
        caption = f"<caption>{escape(self.mechanism.name)}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def score_question(
    mechanism: Mechanism, data: Any, senses: Senses, overrides: Mapping[str, Any] | Params | None = None
) -> ScoreResult:
    """Score the answers of a question exactly as a round would."""
    given = overrides.model_dump() if isinstance(overrides, Params) else overrides
    params = make_params(mechanism, given)
    refuse_foreign(mechanism, data)
    with name_misspelt(mechanism, data):
        asked = mechanism.parse_question(data)
        ignored = mechanism.list_ignored(data)
        observation = mechanism.observe(params, asked, senses)
    scored = mechanism.score(params, observation)
    return ScoreResult(mechanism, params, observation, scored, (), None if ignored is None else tuple(ignored))


def _pick_scalars(parts: Mapping[str, Any]) -> dict[str, Any]:
    return {str(name): value for name, value in parts.items() if isinstance(value, str | int | float)}


def _format_cell(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else _shorten(str(value))


def _shorten(text: str) -> str:
    line = put_on_one_line(text[: 4 * MAX_CELL])
    return line if len(line) <= MAX_CELL else line[: MAX_CELL - 1] + "…"


def explain_answer(result: ScoreResult, round_id: str, hotkey: str) -> dict[str, Any]:
    """`{text, children}` of one answer of a round that was recalled from its record."""
    if all(score.hotkey != hotkey for score in result.scored.scores):
        told = f"{hotkey[:100]!r} has no score in {round_id}"
        raise WeighbeamError("unknown_hotkey", told, "see which miners the round asked")
    return format_tree(result.explain(hotkey))


def format_tree(node: Node) -> dict[str, Any]:
    """
    >>> format_tree(Node("sum 3", (Node("1"), Node("2"))))["children"][1]
    {'text': '2', 'children': []}
    """
    return {"text": node.text, "children": [format_tree(child) for child in node.children]}
