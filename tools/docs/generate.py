"""Write the parts of the docs that follow from the code: references, tables, pages of attacks. `make docs` runs it."""

import ast
import inspect
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

from weighbeam.app.settings.sections import MechanismSection
from weighbeam.app.settings.sources import Settings, make_settings_type
from weighbeam.engine.alerts.alerts import REMEDIES
from weighbeam.engine.export.schema import PARQUET, TABLES
from weighbeam.lab.capacity.plan import CapacityLoad, plan
from weighbeam.lab.capacity.units import load_units
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.mechanism.registry import list_mechanisms
from weighbeam.mechanisms.chunking.advise import MEANINGS as CHUNKING_REASONS
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.evidence.metrics import MEASURES as EVIDENCE_MEASURES
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.reasons import MEANINGS as EVIDENCE_REASONS
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.mechanisms.inference.reasons import MEANINGS as INFERENCE_REASONS
from weighbeam.mechanisms.novelty.advise import MEANINGS as NOVELTY_REASONS
from weighbeam.mechanisms.novelty.params import NoveltyParams

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WIDTH = 78
PARAMETERS: dict[str, type[Params]] = {
    "chunking": ChunkingParams,
    "evidence": EvidenceParams,
    "inference": InferenceParams,
    "novelty": NoveltyParams,
}
REASONS: dict[str, Mapping[str, str]] = {
    "chunking": CHUNKING_REASONS,
    "evidence": EVIDENCE_REASONS,
    "inference": INFERENCE_REASONS,
    "novelty": NOVELTY_REASONS,
}


def write_commands() -> str:
    """Every command's help."""
    from weighbeam.cli.main import app

    names = list_commands(typer.main.get_command(app))
    parts = [f"\n## weighbeam {name}".rstrip() + f"\n\n```text\n{show_help(name)}\n```\n" for name in names]
    return "".join(["# Commands\n\nWritten by `make docs` from the program itself.\n", *parts])


def list_commands(group: Any, above: str = "") -> Iterator[str]:
    """Each command of Weighbeam after the group that holds it; commands of other packages are left out."""
    yield above
    for name in group.list_commands(None) if hasattr(group, "list_commands") else ():
        if name not in list_mechanisms() or name in PARAMETERS:
            yield from list_commands(group.get_command(None, name), f"{above} {name}".strip())


def show_help(command: str) -> str:
    from typer.testing import CliRunner

    from weighbeam.cli.main import app

    asked = [*command.split(), "--help"]
    done = CliRunner().invoke(app, asked, prog_name="weighbeam", terminal_width=WIDTH)
    assert done.exit_code == 0, command
    return done.stdout.strip()


def write_parameters(params: type[Params] = ChunkingParams) -> str:
    """The table of a mechanism's parameters."""
    rows = ["| name | default | meaning |", "| --- | --- | --- |"]
    for name, field in params.model_fields.items():
        default = "null" if field.default is None else str(field.default).lower()
        rows.append(f"| `{name}` | {default} | {field.description} |")
    return "\n".join(rows)


def write_reasons(meanings: Mapping[str, str]) -> str:
    """The table of the reasons a mechanism gives."""
    rows = ["| reason | what it means and what to do |", "| --- | --- |"]
    return "\n".join([*rows, *(f"| `{code}` | {meaning} |" for code, meaning in meanings.items())])


def write_settings() -> str:
    """The table of settings."""
    rows = ["| setting | default | meaning |", "| --- | --- | --- |"]
    for section, field in make_settings_type(Settings).model_fields.items():
        if section == "aliases":
            rows.append(f"| `aliases` | `{{}}` | {field.description} |")
            continue
        kind = MechanismSection if section == "mechanisms" else field.annotation
        place = "mechanisms.NAME" if section == "mechanisms" else section
        for name, inner in kind.model_fields.items():
            default = inner.get_default(call_default_factory=True)
            shown = json.dumps(list(default) if isinstance(default, tuple) else default, default=str)
            rows.append(f"| `{place}.{name}` | `{shown}` | {inner.description} |")
    return "\n".join(rows)


def write_alerts() -> str:
    """The table of alerts."""
    rows = ["| alert | what to do |", "| --- | --- |"]
    return "\n".join([*rows, *(f"| `{code}` | {remedy} |" for code, remedy in REMEDIES.items())])


def write_metrics() -> str:
    """The table of metrics that mechanisms count."""
    rows = ["| metric | labels | meaning |", "| --- | --- | --- |"]
    for name, measure in EVIDENCE_MEASURES.items():
        ending = "_total" if measure.kind == "counter" else ""
        labels = ", ".join(f"`{label}`" for label in measure.labels)
        rows.append(f"| `weighbeam_evidence_{name}{ending}` | {labels} | {measure.help} |")
    return "\n".join(rows)


def write_capacity() -> str:
    """What a large load needs."""
    rows = ["| what | needs | because |", "| --- | --- | --- |"]
    needs = plan(CapacityLoad(), load_units())
    return "\n".join([*rows, *(f"| {need.what} | {need.amount} | {need.because} |" for need in needs)])


def write_format() -> str:
    """The format of vector files, as it stands beside them, one level down."""
    _, _, rest = (ROOT / "vectors" / "FORMAT.md").read_text().partition("\n")
    return f"## The format\n{rest.rstrip()}"


def write_vectors() -> str:
    """Every vector file: what it fixes, and how many cases it has."""
    rows = ["| file | cases | fixes |", "| --- | --- | --- |"]
    for path in sorted((ROOT / "vectors").glob("*.json")):
        held = json.loads(path.read_text())
        rows.append(f"| `{path.name}` | {len(held['cases'])} | {held['about']} |")
    return "\n".join(rows)


def write_export(table: str) -> str:
    """The columns of one table of an export."""
    rows = ["| column | type | null | meaning |", "| --- | --- | --- | --- |"]
    for column in TABLES[table]:
        rows.append(
            f"| `{column.name}` | {PARQUET[column.kind]} | {'yes' if column.nullable else ''} | {column.meaning} |"
        )
    return "\n".join(rows)


def write_tables() -> dict[tuple[str, str], str]:
    """By page and mark."""
    return {
        ("reference/settings.md", "settings"): write_settings(),
        ("guides/operate.md", "alerts"): write_alerts(),
        ("reference/metrics.md", "metrics"): write_metrics(),
        ("guides/scale.md", "capacity"): write_capacity(),
        ("reference/vectors.md", "format"): write_format(),
        ("reference/vectors.md", "vectors"): write_vectors(),
        **{("guides/export.md", f"table {name}"): write_export(name) for name in TABLES},
        ("guides/write-a-mechanism.md", "attributes"): write_members(ast.AnnAssign),
        ("guides/write-a-mechanism.md", "methods"): write_members(ast.FunctionDef),
    }


def write_members(kind: type[ast.AST]) -> str:
    """The public attributes or methods of the base class, with the first sentence of each docstring."""
    (base,) = ast.parse(inspect.getsource(Mechanism)).body
    assert isinstance(base, ast.ClassDef)
    rows = []
    for member, after in zip(base.body, [*base.body[1:], None], strict=True):
        if not isinstance(member, kind):
            continue
        if isinstance(member, ast.FunctionDef):
            name, said = member.name, ast.get_docstring(member)
        else:
            name, said = member.target.id, after.value.value if isinstance(after, ast.Expr) else None
        if not name.startswith("_"):
            assert said, f"{name} has no docstring"
            rows.append(f"| `{name}` | {' '.join(said.split(chr(10) * 2)[0].split())} |")
    return "\n".join(["| name | meaning |", "| --- | --- |", *rows])


def fill(page: str, name: str, content: str) -> str:
    pattern = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
    return re.sub(pattern, lambda m: f"{m[1]}{content}\n{m[2]}", page, flags=re.S)


def main() -> None:
    from write_api import write_api
    from write_attacks import write_attacks
    from write_http import open_app, write_http

    (DOCS / "reference/cli.md").write_text(write_commands())
    (DOCS / "reference/api-reference.md").write_text(write_api())
    page = DOCS / "reference" / "http.md"
    with open_app() as (app, _):
        page.write_text(fill(page.read_text(), "operations", write_http(app)))
    for name, params in PARAMETERS.items():
        page = DOCS / f"mechanisms/{name}.md"
        page.write_text(fill(page.read_text(), "parameters", write_parameters(params)))
        page.write_text(fill(page.read_text(), "reasons", write_reasons(REASONS[name])))
    for (name, part), content in write_tables().items():
        page = DOCS / name
        page.write_text(fill(page.read_text(), part, content))
    for page in (DOCS / "attacks").glob("*.md"):
        page.unlink()
    for name, content in write_attacks().items():
        (DOCS / "attacks" / name).write_text(content)


if __name__ == "__main__":
    main()
