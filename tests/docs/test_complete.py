"""Nothing a user can name is left out of the pages: commands, options, variables, alerts, reasons."""

import ast
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib.metadata import entry_points
from itertools import pairwise
from typing import Any, get_args

import typer

from tests_root import ROOT
from weighbeam.app.settings.secrets import list_secrets
from weighbeam.app.settings.sources import find_unknown, load_settings
from weighbeam.cli.main import app
from weighbeam.engine.alerts.alerts import REMEDIES
from weighbeam.engine.rules.decision import SkipReason

DOCS, SOURCE = ROOT / "docs", ROOT / "src/weighbeam"
THEIRS = {entry.name for entry in entry_points(group="weighbeam.mechanisms") if entry.module[:10] != "weighbeam."}
LEVELS = ("info", "warning", "critical")


def walk(command: Any, name: str = "weighbeam") -> Iterator[tuple[str, Any]]:
    yield name, command
    for inner in command.list_commands(None) if hasattr(command, "list_commands") else ():
        found = command.get_command(None, inner)
        if not found.hidden and inner not in THEIRS:
            yield from walk(found, f"{name} {inner}")


COMMANDS = dict(walk(typer.main.get_command(app)))


def read_sections() -> dict[str, str]:
    parts = re.split(r"^## (.+)$", (DOCS / "reference/cli.md").read_text(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_every_command_and_no_other_is_in_the_reference() -> None:
    assert len(COMMANDS) > 60
    assert set(read_sections()) == set(COMMANDS)


def test_every_option_and_argument_is_in_the_reference() -> None:
    sections, missing = read_sections(), []
    for name, command in COMMANDS.items():
        for given in command.params:
            names = given.opts if given.param_type_name == "option" else [(given.metavar or given.name).upper()]
            shown = sections[name].upper() if given.param_type_name != "option" else sections[name]
            missing += [(name, one) for one in names if one.startswith("--") or len(names) == 1 if one not in shown]
    assert missing == []


def find_variables() -> set[str]:
    found = set()
    for path in SOURCE.rglob("*.py"):
        found |= set(re.findall(r"\"((?:WEIGHBEAM|WANDB|OPENAI)_[A-Z_]+[A-Z])\"", path.read_text()))
    return found - {"WEIGHBEAM_MAX_MINERS"}


def test_every_variable_is_explained_and_none_is_told_to_set_nothing() -> None:
    found, page = find_variables(), (DOCS / "reference/settings.md").read_text()
    assert len(found) >= 7
    unknown = {name for name in found if f"`{name}`" not in page}
    assert {name for name in unknown if not name.startswith("WANDB_")} == set()
    assert find_unknown(dict.fromkeys(found, "x")) == []


def test_every_key_of_the_environment_is_hidden() -> None:
    keys = {name for name in find_variables() if name.endswith("_KEY")} | {"WANDB_API_KEY"}
    assert len(keys) >= 5
    environment = {name: f"secret-of-{name}" for name in keys}
    assert set(environment.values()) <= set(list_secrets(load_settings(None, {}), environment))


def list_told() -> set[str]:
    """Literals that stand before the level of an alert in any call."""
    found = set()
    for path in [*SOURCE.glob("engine/**/*.py"), *SOURCE.glob("app/**/*.py"), *SOURCE.glob("mechanisms/**/*.py")]:
        for node in ast.walk(ast.parse(path.read_text())):
            given = node.args if isinstance(node, ast.Call) else []
            for code, level in pairwise(getattr(argument, "value", None) for argument in given):
                if level in LEVELS and isinstance(code, str):
                    found.add(code)
    return found


def test_every_alert_that_is_told_has_a_remedy() -> None:
    told = list_told()
    assert len(told) >= 20
    assert told - set(REMEDIES) == set()


def test_every_reason_to_skip_a_weigh_in_has_a_remedy() -> None:
    page = (DOCS / "guides/operate.md").read_text()
    assert [reason for reason in (*get_args(SkipReason), "submission_open") if f"| `{reason}` |" not in page] == []


def test_every_reason_of_recorded_rounds_is_on_its_page() -> None:
    query = "SELECT DISTINCT mechanism, value FROM scores JOIN rounds ON rounds.id = round, json_each(reasons)"
    with closing(sqlite3.connect(f"file:{ROOT / 'golden/0.1.0/journal.sqlite'}?mode=ro", uri=True)) as journal:
        found = journal.execute(query.replace("value", "json_each.value")).fetchall()
    assert {mechanism for mechanism, _ in found} >= {"inference", "evidence"}
    assert [
        (name, code) for name, code in found if f"`{code}`" not in (DOCS / f"mechanisms/{name}.md").read_text()
    ] == []
