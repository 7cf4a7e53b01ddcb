"""The report: one file that loads nothing, says everything, and shows what others wrote as text."""

import dataclasses
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lab.lab_fakes import ATTACKS, play_fake
from lab.trials.test_sweep import GRID, play_grid
from weighbeam.core.errors import WeighbeamError
from weighbeam.lab.attack.comparison import AttackFinding
from weighbeam.lab.report.page import Report, format_command, render_report
from weighbeam.lab.report.records import format_record, load_record
from weighbeam.lab.simulate.season import Season
from weighbeam.lab.trials.bench import BenchResult, run_bench
from weighbeam.lab.trials.processes import Processes
from weighbeam.lab.trials.sweep import SweepResult, run_sweep
from weighbeam.lab.validators.year_record import YearRecord, run_year

HOSTILE = "inference/<script>alert(1)</script>\"' onload=x &amp; \u202e\x07"
KNOWN = [attack.name for attack in ATTACKS]


@pytest.fixture(scope="module")
def benched() -> BenchResult:
    return run_bench(ATTACKS, range(2), Season(rounds=8), {"inference": {"cap": 0.5}}, Processes(1), play=play_fake)


@pytest.fixture(scope="module")
def swept() -> SweepResult:
    return run_sweep("inference", GRID, ATTACKS, range(1), Season(rounds=8), Processes(1), play=play_grid)


@pytest.fixture(scope="module")
def year() -> YearRecord:
    return run_year(validators=5, miners=12, copiers=1, colluders=1, epochs=45)


class Tags(HTMLParser):
    """Every tag and every address on a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "xlink:href")]
        assert not [name for name, _ in attrs if name.startswith("on")]


def test_the_page_loads_nothing_and_shows_every_number(
    benched: BenchResult, swept: SweepResult, year: YearRecord
) -> None:
    findings = (
        AttackFinding("inference/copycat", True, "it earns more"),
        AttackFinding("inference/sybil", False, "it earns less"),
    )
    page = render_report(Report((benched, swept, year), findings))
    seen = Tags(page)
    assert not seen.tags & {"script", "link", "img", "iframe", "object", "image", "use"}
    assert {link.removeprefix("#") for link in seen.links} <= set(seen.ids)
    assert all(link.startswith("#") for link in seen.links)
    assert re.findall(r"https?://[^\s\"'<]+", page.replace("http://www.w3.org/", "")) == []
    for outcome in benched.outcomes.values():
        assert f"{outcome.profit.value:.2f}" in page
        assert outcome.verdict in page
    for told in (*benched.versions.senses.values(), "it earns more", "inference.cap = 0.5", "duplicate_overlap"):
        assert told in page
    assert page.count("<svg") == 8


def test_what_others_wrote_is_text(benched: BenchResult, tmp_path: Path) -> None:
    spoilt = dataclasses.replace(
        benched,
        outcomes={HOSTILE: benched.outcomes["inference/copycat"]},
        params={"inference": {"<b>x</b>": "</pre><script>"}},
        versions=dataclasses.replace(benched.versions, weighbeam="<i>1</i>", senses={"<u>": "<s>"}),
    )
    file = tmp_path / "bench.json"
    file.write_text(json.dumps(format_record(spoilt)))
    again = load_record(file)
    assert again == spoilt
    page = render_report(Report((again,), (AttackFinding(HOSTILE, True, HOSTILE),)))
    assert not Tags(page).tags & {"script", "b", "i", "u", "s"}


def test_a_year_comes_back_and_plays_again(year: YearRecord, tmp_path: Path) -> None:
    file = tmp_path / "year.json"
    file.write_text(json.dumps(format_record(year)))
    assert load_record(file) == year
    assert format_command(year, KNOWN).startswith("weighbeam lab year --validators 5 --miners 12 --copiers 1")
    assert [(kind.name, kind.validators) for kind in year.kinds] == [("honest", 3), ("copying", 1), ("colluding", 1)]
    assert sum(kind.earned * kind.validators for kind in year.kinds) == pytest.approx(5)
    assert len(year.days) == 3
    with pytest.raises(WeighbeamError, match="bad_population"):
        run_year(validators=4, copiers=4)


def test_the_command_plays_the_same_again(benched: BenchResult, swept: SweepResult) -> None:
    told = format_command(benched, KNOWN)
    assert told == "weighbeam lab attack --seeds 2 --rounds 8 --set inference.cap=0.5"
    assert "lab attack inference/copycat" in format_command(
        dataclasses.replace(benched, outcomes={"inference/copycat": benched.outcomes["inference/copycat"]}), KNOWN
    )
    assert format_command(swept, KNOWN) == (
        "weighbeam lab sweep --mechanism inference --grid duplicate_overlap=0.4,0.6 --grid quality_threshold=0.25,0.45 "
        "--seeds 1 --rounds 8"
    )
