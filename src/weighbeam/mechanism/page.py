"""Words and columns that pages and tables need of a mechanism; each has a default, so a mechanism may declare none."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class MechanismPage:
    """How a mechanism is shown to people."""

    lead: str = ""
    """Two short sentences above the leaderboard: what is paid, and what the standing is."""
    parts: Mapping[str, str] | None = None
    """Parts of a score that a round shows, each with its column title; None shows the first few numbers."""
    task_fields: Mapping[str, str] = field(default_factory=dict)
    """Fields of a task that hold its question, each with its title; the first that is there is shown."""
    form_field: str = ""
    """The field that the Ask form fills in; without one it takes the body of a task as JSON."""
    form_label: str = ""
    """What the form calls that."""
    token_units: str = ""
    """The parameter with the units of a token, where scores are units and are shown in tokens."""
    home: str = ""
    """Where the menu leads, if not to the leaderboard: a path that `add_pages` serves."""
    standing: str = "standing"
    """The title of the standing's column in narrow tables."""
    decimals: int = 2
    """Of a score in such a table."""
    table_width: int = 92
    """From how many columns on such a table says what each miner does."""
    legend: str = ""
    """One or two lines below such a table."""
