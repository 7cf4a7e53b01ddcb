"""The documentation is true: generated parts are current, every code and parameter is there, every command runs."""

import ast
import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests_root import ROOT
from warm import weighbeam_warm
from weighbeam.service.tables.catalogue import TABLES

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
SOURCE = ROOT / "src/weighbeam"
READING = ("mechanisms", "reading", "rounds")


def load_generator(name: str = "generate"):
    sys.path.insert(0, str(ROOT / "tools/docs"))
    spec = importlib.util.spec_from_file_location(name, ROOT / f"tools/docs/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def error_codes() -> set[str]:
    """First arguments of WeighbeamError and second ones of require, wherever they are literal."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                position = {"WeighbeamError": 0, "require": 1}.get(node.func.id)
                if position is not None and len(node.args) > position:
                    argument = node.args[position]
                    if isinstance(argument, ast.Constant):
                        found.add(argument.value)
    return found


def blocks(language: str) -> list[tuple[str, str]]:
    return [
        (f"{page.relative_to(ROOT)}:{index}", block)
        for page in PAGES
        for index, block in enumerate(re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.M | re.S))
    ]


def test_the_command_reference_is_current() -> None:
    assert (DOCS / "reference/cli.md").read_text() == load_generator().write_commands(), "run make docs"


def test_the_api_reference_is_current() -> None:
    assert (DOCS / "reference/api-reference.md").read_text() == load_generator("write_api").write_api(), "run make docs"


def test_every_public_name_is_in_the_api_reference() -> None:
    import weighbeam

    titles = re.findall(r"^### (\w+)$", (DOCS / "reference/api-reference.md").read_text(), re.M)
    assert set(weighbeam.__all__) - {"__version__"} - set(titles) == set()


def test_the_parameter_tables_are_current() -> None:
    generator = load_generator()
    for name, params in generator.PARAMETERS.items():
        assert generator.write_parameters(params) in (DOCS / f"mechanisms/{name}.md").read_text(), "run make docs"


def test_the_tables_of_reasons_are_current() -> None:
    generator = load_generator()
    for name, meanings in generator.REASONS.items():
        assert generator.write_reasons(meanings) in (DOCS / f"mechanisms/{name}.md").read_text(), "run make docs"


def test_the_tables_of_settings_alerts_and_metrics_are_current() -> None:
    for (page, _), content in load_generator().write_tables().items():
        assert content in (DOCS / page).read_text(), "run make docs"


def test_the_pages_of_attacks_are_current() -> None:
    written = load_generator("write_attacks").write_attacks()
    assert {page.name: page.read_text() for page in (DOCS / "attacks").glob("*.md")} == written, "run make docs"


def test_every_metric_is_explained() -> None:
    found = {}
    for path in sorted((SOURCE / "service").rglob("*.py")):
        found |= {
            name: kind
            for kind, name in re.findall(r"(Counter|Gauge|Histogram)\w*\(\s*\"(weighbeam_\w+)\"", path.read_text())
        }
    page = "".join((DOCS / name).read_text() for name in ("reference/metrics.md", "guides/novelty-api.md"))
    assert len(found) >= 10
    assert [name for name, kind in found.items() if name + ("_total" if kind == "Counter" else "") not in page] == []


def test_every_mechanism_that_counts_is_in_the_table_of_metrics() -> None:
    from weighbeam.mechanism.registry import load_mechanism

    page = (DOCS / "reference/metrics.md").read_text()
    for name in load_generator().PARAMETERS:
        mechanism = load_mechanism(name)
        for measure in mechanism.measures:
            assert f"`weighbeam_{name}_{measure}" in page


def test_every_route_of_the_novelty_api_is_explained() -> None:
    page = (DOCS / "guides/novelty-api.md").read_text()
    source = (SOURCE / "mechanisms/novelty/service/routes.py").read_text()
    paths = re.findall(r"route\(\s*(?:\"POST\",\s*)?\"(/\w+)(?:/\{\w+(?::path)?\}(/\w+)?)?\"", source)
    assert len(paths) == 9
    assert [path for path, verb in paths if f"/v1/novelty{path}" not in page or (verb and verb not in page)] == []


def test_every_route_that_reads_is_explained() -> None:
    page, paths = (DOCS / "guides/read-api.md").read_text(), ["/health", "/events"]
    for path in (SOURCE / "service/api" / f"{name}.py" for name in READING):
        paths += re.findall(r"(?:route\(|declare_read\(app, )\"(/[^\"]+)\"", path.read_text())
    paths += [f"/tables/{name}" for name in TABLES]
    assert len(paths) >= 27
    named = [re.sub(r"\{round_id\}", "{id}", re.sub(r"\{mechanism\}", "{name}", path)) for path in paths]
    assert [path for path in named if f"GET /v1{path}" not in page] == []


def test_every_route_of_the_organic_api_is_explained() -> None:
    page, source = (DOCS / "guides/api.md").read_text(), (SOURCE / "service/api/request_routes.py").read_text()
    routes = re.findall(r"_route\(app, \"(\w+)\", f?\"([^\"]+)\"", source)
    assert len(routes) == 5
    shown = [f"{method} {path.replace('{request_id}', '{id}')}" for method, path in routes]
    assert [route for route in shown if f"`{route}" not in page] == []


def test_every_error_code_is_explained() -> None:
    codes = error_codes()
    assert len(codes) > 40
    page = (DOCS / "reference/errors.md").read_text()
    assert sorted(code for code in codes if f"`{code}`" not in page) == []


def test_every_failure_code_is_explained() -> None:
    from weighbeam.mechanisms.chunking.failure import MEANINGS

    page = (DOCS / "mechanisms/chunking.md").read_text()
    assert [code for code in [*MEANINGS, "validator_fault"] if f"`{code}`" not in page] == []


def test_every_make_target_is_explained_and_every_one_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.M))
    assert targets == set(re.findall(r"^([a-z-]+):.*## ", makefile, re.M))
    named = {name for page in PAGES for name in re.findall(r"(?:`|^ +)make ([a-z-]+)", page.read_text(), re.M)}
    assert named <= targets


def test_every_link_leads_somewhere() -> None:
    for page in PAGES:
        for link in re.findall(r"\]\((?!http)([^)#]+)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name} links to {link}"


@pytest.mark.parametrize(("where", "block"), blocks("sh"))
def test_every_shell_block_runs(where: str, block: str, cache: Path, tmp_path: Path) -> None:
    """In a folder of its own, so that what a command leaves behind is there for the next one and for no other."""
    for name in ("examples", "golden", "vectors"):
        (tmp_path / name).symlink_to(ROOT / name)
    for line in block.strip().splitlines():
        words = shlex.split(line.removeprefix(".venv/bin/"))
        assert words[0] == "weighbeam", where
        done = weighbeam_warm(*words[1:], cwd=tmp_path)
        assert done.returncode == 0, f"{where}: {line}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize(("where", "block"), blocks("python"))
def test_every_python_block_runs(where: str, block: str, cache: Path) -> None:
    done = subprocess.run([sys.executable, "-c", block], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{where}\n{done.stderr}"
    assert done.stdout
