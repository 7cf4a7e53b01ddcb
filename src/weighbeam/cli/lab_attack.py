"""`weighbeam lab attack`: play the catalogue, and compare with what is expected of it."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated

import typer

from weighbeam.cli.lab_options import (
    Names,
    RayAddress,
    ReportFile,
    Rounds,
    Seeds,
    Settings,
    Workers,
    check_report,
    choose_spread,
    save_report,
    show_progress,
)
from weighbeam.cli.overrides import read_overrides
from weighbeam.cli.settings import AsJson
from weighbeam.cli.shell import EXIT_CHECK_FAILED, print_json
from weighbeam.core.errors import require

if TYPE_CHECKING:
    from weighbeam.lab.bench import Benched
    from weighbeam.lab.compare import Finding
    from weighbeam.lab.expectations import Profile

Short = Annotated[bool, typer.Option("--short", help="A first look: 2 seasons of 16 rounds instead of 12 of 48.")]
Expect = Annotated[bool, typer.Option("--expect", help="Exit 1 if anything is worse than the expectations.")]
WriteExpectations = Annotated[
    bool, typer.Option("--write-expectations", help="Make this the expectations: the whole catalogue, nothing set.")
]


def attack(
    names: Names = None,
    short: Short = False,
    seeds: Seeds = None,
    rounds: Rounds = None,
    settings: Settings = None,
    workers: Workers = 0,
    ray: RayAddress = None,
    report: ReportFile = None,
    expect: Expect = False,
    write_expectations: WriteExpectations = False,
    as_json: AsJson = False,
) -> None:
    """Play attacks over seeds: what they earn beside honest work, and whether they are found out."""
    from weighbeam.lab.bench import run_bench
    from weighbeam.lab.catalogue import find_attacks
    from weighbeam.lab.expectations import keep_expectations
    from weighbeam.lab.params import sort_params
    from weighbeam.lab.play import Season

    chosen, profile = find_attacks(names or []), choose_length(short, seeds, rounds)
    params = sort_params(read_overrides(None, settings), {one.mechanism for one in chosen})
    check_report(report)
    if expect or write_expectations:
        check_comparable(profile, write_expectations and bool(names or params))
    with show_progress() as on_done:
        season = Season(rounds=profile.rounds)
        benched = run_bench(chosen, range(profile.seeds), season, params, choose_spread(workers, ray), on_done)
    if write_expectations:
        keep_expectations(benched, profile)
    findings = find_differences(benched, profile, names or []) if expect else None
    tell(benched, findings, as_json)
    save_report(report, [benched], findings, quiet=as_json)
    if findings and any(finding.red for finding in findings):
        raise typer.Exit(EXIT_CHECK_FAILED)


def choose_length(short: bool, seeds: int | None, rounds: int | None) -> "Profile":
    from dataclasses import replace

    from weighbeam.lab.expectations import FULL, SHORT

    profile = SHORT if short else FULL
    count, length = profile.seeds if seeds is None else seeds, profile.rounds if rounds is None else rounds
    return replace(profile, seeds=count, rounds=length)


def check_comparable(profile: "Profile", partly: bool) -> None:
    from weighbeam.lab.expectations import FULL, SHORT

    told = "expectations are kept of 12 seasons of 48 rounds and, --short, of 2 of 16"
    require(profile in (FULL, SHORT), "not_comparable", told, "leave out --seeds and --rounds")
    require(not partly, "not_comparable", "expectations are of the whole catalogue", "leave out names and --set")


def find_differences(benched: "Benched", profile: "Profile", names: Collection[str]) -> "tuple[Finding, ...]":
    from weighbeam.lab.compare import compare
    from weighbeam.lab.expectations import load_expectations, narrow

    return compare(benched, narrow(load_expectations(profile), names))


def tell(benched: "Benched", findings: "tuple[Finding, ...] | None", as_json: bool) -> None:
    from dataclasses import asdict

    from weighbeam.cli.show_lab import show_bench, show_findings
    from weighbeam.lab.records import write_record

    if as_json:
        compared = {} if findings is None else {"findings": [asdict(finding) for finding in findings]}
        print_json({**write_record(benched), **compared})
        return
    show_bench(benched)
    if findings is not None:
        show_findings(findings)
