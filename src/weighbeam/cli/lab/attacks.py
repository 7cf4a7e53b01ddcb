"""`weighbeam lab attack` and `sweep`: play the attacks, and vary parameters against them."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weighbeam.cli.common.options import AsJson
from weighbeam.cli.common.overrides import load_overrides, parse_value
from weighbeam.cli.common.shell import EXIT_CHECK_FAILED, print_json
from weighbeam.cli.lab.options import (
    Names,
    RayAddress,
    ReportFile,
    Rounds,
    Seeds,
    SetOption,
    Workers,
    check_report,
    choose_spread,
    save_report,
    show_progress,
)
from weighbeam.core.errors import require

if TYPE_CHECKING:
    from weighbeam.lab.attack.comparison import AttackFinding
    from weighbeam.lab.attack.expectations import Profile
    from weighbeam.lab.trials.bench import BenchResult

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
    settings: SetOption = None,
    workers: Workers = 0,
    ray: RayAddress = None,
    report: ReportFile = None,
    expect: Expect = False,
    write_expectations: WriteExpectations = False,
    as_json: AsJson = False,
) -> None:
    """Play attacks and compare them with honest work.

    Over seeds: what they earn, and whether they are found out.
    """
    from weighbeam.lab.attack.catalogue import find_attacks
    from weighbeam.lab.attack.expectations import save_expectations
    from weighbeam.lab.simulate.season import Season
    from weighbeam.lab.trials.bench import run_bench
    from weighbeam.lab.trials.params import sort_params

    chosen, profile = find_attacks(names or []), choose_length(short, seeds, rounds)
    params = sort_params(load_overrides(None, settings), {one.mechanism for one in chosen})
    check_report(report)
    if expect or write_expectations:
        check_comparable(profile, write_expectations and bool(names or params))
    with show_progress() as on_done:
        season = Season(rounds=profile.rounds)
        benched = run_bench(chosen, range(profile.seeds), season, params, choose_spread(workers, ray), on_done)
    if write_expectations:
        save_expectations(benched, profile)
    findings = find_differences(benched, profile, names or []) if expect else None
    show_attacks(benched, findings, as_json)
    save_report(report, [benched], findings, quiet=as_json)
    if findings and any(finding.red for finding in findings):
        raise typer.Exit(EXIT_CHECK_FAILED)


def choose_length(short: bool, seeds: int | None, rounds: int | None) -> "Profile":
    from dataclasses import replace

    from weighbeam.lab.attack.expectations import FULL, SHORT

    profile = SHORT if short else FULL
    count, length = profile.seeds if seeds is None else seeds, profile.rounds if rounds is None else rounds
    return replace(profile, seeds=count, rounds=length)


def check_comparable(profile: "Profile", partly: bool) -> None:
    from weighbeam.lab.attack.expectations import FULL, SHORT

    told = "expectations are kept of 12 seasons of 48 rounds and, --short, of 2 of 16"
    require(profile in (FULL, SHORT), "not_comparable", told, "leave out --seeds and --rounds")
    require(not partly, "not_comparable", "expectations are of the whole catalogue", "leave out names and --set")


def find_differences(benched: "BenchResult", profile: "Profile", names: Collection[str]) -> "tuple[AttackFinding, ...]":
    from weighbeam.lab.attack.comparison import compare
    from weighbeam.lab.attack.expectations import load_expectations, narrow

    return compare(benched, narrow(load_expectations(profile), names))


def show_attacks(benched: "BenchResult", findings: "tuple[AttackFinding, ...] | None", as_json: bool) -> None:
    from dataclasses import asdict

    from weighbeam.cli.lab.tables import show_bench, show_findings
    from weighbeam.lab.report.records import format_record

    if as_json:
        compared = {} if findings is None else {"findings": [asdict(finding) for finding in findings]}
        print_json({**format_record(benched), **compared})
        return
    show_bench(benched)
    if findings is not None:
        show_findings(findings)


MechanismName = Annotated[str, typer.Option(help="The mechanism whose parameters to vary.")]
GridOption = Annotated[
    list[str], typer.Option("--grid", metavar="NAME=VALUE,VALUE...", help="Values of one parameter; may be repeated.")
]
Attacks = Annotated[list[str] | None, typer.Option("--attack", help="Only this family; may be repeated.")]


def sweep(
    mechanism: MechanismName,
    grid: GridOption,
    attacks: Attacks = None,
    seeds: Annotated[int, typer.Option(help="Seasons of each attack at each point.")] = 3,
    rounds: Annotated[int, typer.Option(help="Rounds of a season.")] = 24,
    workers: Workers = 0,
    ray: RayAddress = None,
    report: ReportFile = None,
    as_json: AsJson = False,
) -> None:
    """Play the attacks under other parameters.

    Parameters that no others beat are marked.
    """
    from weighbeam.lab.attack.catalogue import find_attacks
    from weighbeam.lab.report.records import format_record
    from weighbeam.lab.simulate.season import Season
    from weighbeam.lab.trials.sweep import run_sweep

    chosen = [one for one in find_attacks(attacks or [mechanism]) if one.mechanism == mechanism]
    values = parse_grid(grid)
    check_report(report)
    with show_progress() as on_done:
        spread, season = choose_spread(workers, ray), Season(rounds=rounds)
        swept = run_sweep(mechanism, values, chosen, range(seeds), season, spread, on_done)
    if as_json:
        print_json(format_record(swept))
    else:
        from weighbeam.cli.lab.tables import show_sweep

        show_sweep(swept)
    save_report(report, [swept], None, quiet=as_json)


def parse_grid(settings: list[str]) -> dict[str, list[Any]]:
    """
    >>> parse_grid(["top=1,2", "shape=exp,null"])
    {'top': [1, 2], 'shape': ['exp', None]}
    """
    grid: dict[str, list[Any]] = {}
    for setting in settings:
        name, equals, text = setting.partition("=")
        fits = bool(name and equals and text) and name not in grid
        require(fits, "bad_grid", f"--grid {setting!r}", "write each parameter once, as name=value,value")
        grid[name] = [parse_value(value) for value in text.split(",")]
    return grid
