"""The report as one HTML file: everything put into it is escaped, its pictures are drawn before, it loads nothing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from weighbeam.lab.attack_pages import name_ground
from weighbeam.lab.bench import Benched
from weighbeam.lab.compare import Finding
from weighbeam.lab.measure import Interval, Outcome
from weighbeam.lab.records import Record
from weighbeam.lab.report.charts import chart_detection, chart_front, chart_profits
from weighbeam.lab.report.command import write_command
from weighbeam.lab.report.year_chart import chart_days
from weighbeam.lab.sweep import Swept
from weighbeam.lab.year_record import YearRecord

if TYPE_CHECKING:
    from jinja2 import Environment

WIDE, NARROW = 560, 330
TONES = {"closed": "good", "loses": "calm", "unclear": "warn", "pays": "bad"}


@dataclass(frozen=True, slots=True)
class Report:
    """What is on the page; `findings` where it was compared with what is expected."""

    records: Sequence[Record]
    findings: Sequence[Finding] | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One mechanism's attacks, the most profitable first."""

    mechanism: str
    outcomes: Sequence[tuple[str, Outcome]]
    profits: Mapping[str, str]
    detection: Mapping[str, str]


def render_report(report: Report) -> str:
    from weighbeam.lab.catalogue import list_attacks

    texts = {attack.name: attack for attack in list_attacks()}
    benches = [record for record in report.records if isinstance(record, Benched)]
    sweeps = [record for record in report.records if isinstance(record, Swept)]
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
            played=[(record, write_command(record, texts)) for record in report.records],
            tones=TONES,
        )
    )


def group_outcomes(outcomes: Mapping[str, Outcome]) -> dict[str, dict[str, Outcome]]:
    """By mechanism, in the order of their names."""
    grouped: dict[str, dict[str, Outcome]] = {}
    for name in sorted(outcomes):
        grouped.setdefault(name.partition("/")[0], {})[name] = outcomes[name]
    return grouped


def make_part(mechanism: str, outcomes: Mapping[str, Outcome]) -> Part:
    ranked = sorted(outcomes.items(), key=lambda item: (-item[1].profit.value, item[0]))
    return Part(
        mechanism,
        ranked,
        draw(partial(chart_profits, outcomes)),
        draw(partial(chart_detection, outcomes)),
    )


def make_matrix(outcomes: Mapping[str, Outcome]) -> dict[str, dict[str, tuple[str, Outcome]]]:
    """Family by family, what it came to under each mechanism."""
    matrix: dict[str, dict[str, tuple[str, Outcome]]] = {}
    for name in sorted(outcomes, key=lambda name: name.partition("/")[2]):
        mechanism, _, family = name.partition("/")
        matrix.setdefault(family, {})[mechanism] = name, outcomes[name]
    return matrix


def draw(chart: Callable[[int], dict[str, Any]]) -> dict[str, str]:
    """Twice: for a screen, and for a telephone, where a smaller picture could not be read."""
    from weighbeam.pictures.render import render_svg

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
    made.filters |= {"svg": Markup, "number": write_number, "interval": write_interval, "percent": "{:.0%}".format}
    made.filters |= {"ground": name_ground}
    return made


def write_number(value: float) -> str:
    """
    >>> write_number(0.523), write_number(12.34), write_number(1234.5)
    ('0.52', '12.3', '1,234')
    """
    return f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}" if abs(value) < 100 else f"{value:,.0f}"


def write_interval(interval: Interval) -> str:
    """
    >>> write_interval(Interval(0.5, 0.4, 0.6))
    '0.40 to 0.60'
    """
    return f"{write_number(interval.low)} to {write_number(interval.high)}"
