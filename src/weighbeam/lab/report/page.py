"""The report as one HTML file with everything escaped and embedded, and the command that reproduces it."""

import json
import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from weighbeam.lab.attack.attack import YUMA
from weighbeam.lab.attack.comparison import AttackFinding
from weighbeam.lab.report.charts import chart_days, chart_detection, chart_front, chart_profits
from weighbeam.lab.report.records import LabRecord
from weighbeam.lab.simulate.measure import AttackOutcome, Interval
from weighbeam.lab.trials.bench import BenchResult
from weighbeam.lab.trials.sweep import SweepResult
from weighbeam.lab.validators.year_record import YearRecord


def format_command(record: LabRecord, known: Collection[str]) -> str:
    """`known` is the catalogue, whose names need not be written out one by one."""
    if isinstance(record, YearRecord):
        sizes = ("validators", "miners", "copiers", "colluders", "epochs", "seed")
        words = [word for name in sizes for word in (f"--{name}", str(getattr(record, name)))]
        return shlex.join(["weighbeam", "lab", "year", *words])
    length = ["--seeds", str(len(record.seeds)), "--rounds", str(record.rounds)]
    if isinstance(record, BenchResult):
        names = [] if set(record.outcomes) == set(known) else shorten_names(record.outcomes, known)
        pairs = [
            (f"{owner}.{name}", value) for owner, values in record.params.items() for name, value in values.items()
        ]
        return shlex.join(["weighbeam", "lab", "attack", *names, *length, *_spread("--set", pairs)])
    own = {name for name in known if name.startswith(f"{record.mechanism}/")}
    families = [] if set(record.attacks) == own else [name.partition("/")[2] for name in record.attacks]
    chosen = [word for family in families for word in ("--attack", family)]
    grid = [f"{name}={','.join(map(_format_value, values))}" for name, values in record.grid.items()]
    parts = [word for one in grid for word in ("--grid", one)]
    return shlex.join(["weighbeam", "lab", "sweep", "--mechanism", record.mechanism, *parts, *chosen, *length])


def shorten_names(names: Iterable[str], known: Collection[str]) -> list[str]:
    """A mechanism instead of all its attacks.

    >>> shorten_names(["evidence/padding", "evidence/sybil", "novelty/sybil"],
    ...     ["evidence/padding", "evidence/sybil", "novelty/sybil", "novelty/gibberish"])
    ['evidence', 'novelty/sybil']
    """
    left, short = set(names), []
    for mechanism in sorted({name.partition("/")[0] for name in left}):
        own = {name for name in known if name.startswith(f"{mechanism}/")}
        if own and own <= left:
            short.append(mechanism)
            left -= own
    return sorted([*short, *left])


def _spread(option: str, pairs: Iterable[tuple[str, Any]]) -> list[str]:
    return [word for name, value in pairs for word in (option, f"{name}={_format_value(value)}")]


def _format_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


if TYPE_CHECKING:
    from jinja2 import Environment

WIDE, NARROW = 560, 330
TONES = {"closed": "good", "loses": "calm", "unclear": "warn", "pays": "bad"}


@dataclass(frozen=True, slots=True)
class Report:
    """Content of the page; `findings` if it was compared with expectations."""

    records: Sequence[LabRecord]
    findings: Sequence[AttackFinding] | None = None


@dataclass(frozen=True, slots=True)
class ReportPart:
    """One mechanism's attacks, the most profitable first."""

    mechanism: str
    outcomes: Sequence[tuple[str, AttackOutcome]]
    profits: Mapping[str, str]
    detection: Mapping[str, str]


def render_report(report: Report) -> str:
    from weighbeam.lab.attack.catalogue import list_attacks

    texts = {attack.name: attack for attack in list_attacks()}
    benches = [record for record in report.records if isinstance(record, BenchResult)]
    sweeps = [record for record in report.records if isinstance(record, SweepResult)]
    years = [record for record in report.records if isinstance(record, YearRecord)]
    outcomes = {name: outcome for bench in benches for name, outcome in bench.outcomes.items()}
    return (
        open_page()
        .get_template("page.html")
        .render(
            report=report,
            benches=benches,
            outcomes=outcomes,
            parts=[make_part(name, found) for name, found in group_outcomes(outcomes).items()],
            matrix=make_matrix(outcomes),
            mechanisms=list(group_outcomes(outcomes)),
            sweeps=[(swept, draw(partial(chart_front, swept.points))) for swept in sweeps],
            years=[(year, draw(partial(chart_days, year.days))) for year in years],
            texts=texts,
            played=[(record, format_command(record, texts)) for record in report.records],
            tones=TONES,
        )
    )


def group_outcomes(outcomes: Mapping[str, AttackOutcome]) -> dict[str, dict[str, AttackOutcome]]:
    """By mechanism, in the order of their names."""
    grouped: dict[str, dict[str, AttackOutcome]] = {}
    for name in sorted(outcomes):
        grouped.setdefault(name.partition("/")[0], {})[name] = outcomes[name]
    return grouped


def make_part(mechanism: str, outcomes: Mapping[str, AttackOutcome]) -> ReportPart:
    ranked = sorted(outcomes.items(), key=lambda item: (-item[1].profit.value, item[0]))
    return ReportPart(
        mechanism,
        ranked,
        draw(partial(chart_profits, outcomes)),
        draw(partial(chart_detection, outcomes)),
    )


def make_matrix(outcomes: Mapping[str, AttackOutcome]) -> dict[str, dict[str, tuple[str, AttackOutcome]]]:
    """Family by family, what it came to under each mechanism."""
    matrix: dict[str, dict[str, tuple[str, AttackOutcome]]] = {}
    for name in sorted(outcomes, key=lambda name: name.partition("/")[2]):
        mechanism, _, family = name.partition("/")
        matrix.setdefault(family, {})[mechanism] = name, outcomes[name]
    return matrix


def draw(chart: Callable[[int], dict[str, Any]]) -> dict[str, str]:
    """Twice: for a screen, and for a telephone, where a smaller picture could not be read."""
    from weighbeam.charts.render import render_svg

    return {"wide": render_svg(chart(WIDE)), "narrow": render_svg(chart(NARROW))}


@cache
def open_page() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=PackageLoader("weighbeam.lab.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"svg": Markup, "number": format_number, "interval": format_interval, "percent": "{:.0%}".format}
    made.filters |= {"ground": name_ground}
    return made


def format_number(value: float) -> str:
    """
    >>> format_number(0.523), format_number(12.34), format_number(1234.5)
    ('0.52', '12.3', '1,234')
    """
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}" if abs(value) < 100 else f"{value:,.0f}"


def format_interval(interval: Interval) -> str:
    """
    >>> format_interval(Interval(0.5, 0.4, 0.6))
    '0.40 to 0.60'
    """
    return f"{format_number(interval.low)} to {format_number(interval.high)}"


def name_ground(mechanism: str) -> str:
    """
    >>> name_ground("inference"), name_ground("yuma")
    ('inference', 'the chain (Yuma consensus)')
    """
    return "the chain (Yuma consensus)" if mechanism == YUMA else mechanism
