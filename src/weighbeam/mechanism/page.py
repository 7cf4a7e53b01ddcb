"""Words and columns that pages and tables need of a mechanism; each has a default, so a mechanism may declare none."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weighbeam.charts.picture import ChartPicture
from weighbeam.mechanism.records import Observation, Scored

Report = Mapping[str, Any]
"""Result of `Mechanism.report`."""
Span = Sequence[int]


@dataclass(frozen=True, slots=True)
class RoundFigure:
    """One figure at the head of a round: its label, its value, and a note with or without a number."""

    label: str
    value: str | float | None
    note: str = ""
    number: float | None = None


@dataclass(frozen=True, slots=True)
class AnswerQuote:
    """A quote that an answer rests on, with its surroundings and how it was judged."""

    source: str
    text: str
    before: str
    after: str
    verdict: str
    accepted: bool
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AnswerText:
    """One text of an answer, with a note on it; `fault` says what is wrong with it, if anything is."""

    text: str
    note: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class BoardLine:
    """One miner of a leaderboard; `registered` unless the chain is known not to have it."""

    hotkey: str
    standing: float | None
    registered: bool = True


@dataclass(frozen=True, slots=True)
class StandingsBoard:
    """A leaderboard, best first, with the newest scored round: its name, whom it asked and its summary.

    `names` are what miners are called, by hotkey."""

    lines: Sequence[BoardLine]
    round: str | None = None
    asked: Sequence[str] = ()
    summary: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MechanismPage:
    """How a mechanism is shown to people."""

    lead: str = ""
    """Two short sentences above the leaderboard: what is paid, and what the standing is."""
    parts: Mapping[str, str] | None = None
    """Parts of a score that a round shows, each with its column title; None shows the first few numbers."""
    task_fields: Mapping[str, str] = field(default_factory=dict)
    """Fields of a task that hold its question, each with its title; the first that exists is shown."""
    form_field: str = ""
    """The field that the Ask form fills in; without one it takes the body of a task as JSON."""
    form_label: str = ""
    """Label of that field."""
    token_units: str = ""
    """The parameter with the units of a token, where scores are units and are shown in tokens."""
    home: str = ""
    """Where the menu leads, if not to the leaderboard: a path that `add_pages` serves."""
    app_pages: Mapping[str, str] = field(default_factory=dict)
    """Where the menu leads in a server that runs nothing else: titles and paths that `add_pages` serves."""
    standing: str = "standing"
    """The title of the standing's column in narrow tables."""
    decimals: int = 2
    """Of a score in such a table."""
    table_width: int = 92
    """From how many columns on such a table says what each miner does."""
    legend: str = ""
    """One or two lines below such a table."""
    figures: Callable[[Mapping[str, Any]], Sequence[RoundFigure]] | None = None
    """Text of a round's summary, beside the number of valid answers."""
    cuts: Callable[[Mapping[str, Any], Report, str], tuple[str, Sequence[Span | None]] | None] | None = None
    """A text of the task, and the spans that an answer cut it into, if it did."""
    texts: Callable[[Any, Mapping[str, Any], Any], Sequence[AnswerText]] | None = None
    """The texts of an answer, from the store, the task and the payload, which may be trimmed; shown instead of JSON."""
    quotes: Callable[[Report, str], Sequence[AnswerQuote]] | None = None
    """The quotes that an answer rests on."""
    quotes_title: str = "Quotes"
    """The heading above them."""
    answer_pictures: Callable[[Any, Observation, Scored, str], Sequence[ChartPicture]] | None = None
    """Pictures of one answer, from parameters, observation, scores and hotkey; nothing is observed for them. Pure."""
    board_pictures: Callable[[Any, StandingsBoard], Sequence[ChartPicture]] | None = None
    """Pictures of the standings, from parameters and leaderboard. Pure."""

    def count_units(self, params: Any) -> int:
        """Units of a token where scores and standings are paid in them; 1 where they are numbers.

        >>> MechanismPage().count_units(None)
        1
        """
        return int(getattr(params, self.token_units, None) or 1) if self.token_units else 1
