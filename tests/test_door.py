"""The public API: what `import weighbeam` gives, what it loads, and that examples and docs need nothing else."""

import ast
import html
import json
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel

import weighbeam
from tests_root import ROOT
from weighbeam import LocalSenses, Mechanism, WeighbeamError
from weighbeam.engine.journal.replay import ReplayedEntry

EXAMPLES, JOURNAL = ROOT / "examples", ROOT / "golden/0.1.0/journal.sqlite"
MECHANISMS = ("chunking", "evidence", "inference", "novelty")
PUBLIC = (
    "score explain replay backtest check_mechanism load_mechanism open_novelty entail Mechanism Params Task Answer "
    "Asked Observation Score Scored Standing Weights Node Senses LocalSenses WeighbeamError __version__"
)
EVIL = '<script>alert("x")</script>\x1b[2J'
TEMPLATES = ROOT / "src/weighbeam/mechanism/template"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


class BriefReply(BaseModel):
    text: str


class Brief(Mechanism):
    """Answer in few words."""

    name = "brief"
    reply_type = BriefReply
    example: ClassVar = {"task": {"prompt": "Why?"}, "answers": [{"text": "Rain."}, {"text": "Because of rain."}]}

    def task(self, params: Any, seed: Any) -> dict[str, Any]:
        return {"prompt": f"Why {seed}?"}

    def measure(self, task: Any, reply: Any, senses: Any) -> dict[str, Any]:
        return {"words": len(reply.text.split())}

    def grade(self, params: Any, facts: Any) -> dict[str, float]:
        return {"brevity": 1 / (1 + facts["words"])}


def run(code: str, *arguments: object) -> Any:
    """What a fresh interpreter prints as JSON in its last line."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def ask(*answers: tuple[str, str]) -> dict[str, Any]:
    return {"prompt": "Why?", "answers": [{"hotkey": hotkey, "text": text} for hotkey, text in answers]}


def test_the_public_names_are_these_and_no_more() -> None:
    assert sorted(weighbeam.__all__) == sorted(PUBLIC.split()) == dir(weighbeam)
    for name in weighbeam.__all__:
        assert getattr(weighbeam, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'scoring'"):
        _ = weighbeam.scoring


def test_type_checkers_see_the_same_names_from_the_same_modules() -> None:
    tree = ast.parse((ROOT / "src/weighbeam/__init__.py").read_text())
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name: node.module for node in guarded.body for alias in node.names}
    assert seen == {name: home for home, names in weighbeam._HOMES.items() for name in names.split()}
    assert {*seen, "__version__"} == set(weighbeam.__all__)


def test_other_records_are_attributes_of_the_base_class() -> None:
    for name in "Advice Collected Group Measure MechanismPage Narrative WeighRule".split():
        assert getattr(Mechanism, name).__name__ == name
        assert f"`Mechanism.{name}`" in (ROOT / "docs/guides/write-a-mechanism.md").read_text()


def test_the_import_loads_nothing_heavy() -> None:
    code = "import json, sys, weighbeam; dir(weighbeam); weighbeam.__version__; print(json.dumps(sorted(sys.modules)))"
    loaded = set(run(code))
    assert loaded & {"numpy", "pydantic", "sqlalchemy", "typer", "onnxruntime"} == set()
    assert {name for name in loaded if name.startswith("weighbeam")} == {"weighbeam"}


@pytest.mark.parametrize("name", MECHANISMS)
def test_scoring_loads_no_database_and_reports_what_the_command_prints(name: str, cache: Path) -> None:
    by_door = (
        "import json, sys, weighbeam\n"
        "result = weighbeam.score(sys.argv[1], sys.argv[2])\n"
        "result.table(), result._repr_html_(), [str(result.explain(s.hotkey)) for s in result.scored.scores]\n"
        "print(json.dumps([result.report(), 'sqlalchemy' in sys.modules]))"
    )
    by_command = (
        "import json, sys\n"
        "from weighbeam.cli.main import app\n"
        "try:\n    app(['score', sys.argv[1], sys.argv[2], '--json'])\n"
        "except SystemExit as end:\n    assert not end.code\n"
        "print(json.dumps('sqlalchemy' in sys.modules))"
    )
    file = EXAMPLES / f"{name}.json"
    report, loaded = run(by_door, name, file)
    assert not loaded
    command = [sys.executable, "-c", by_command, name, str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=True)
    printed, loaded = map(json.loads, done.stdout.splitlines())
    assert not loaded
    assert leave_out_times(report) == leave_out_times(printed)


def leave_out_times(value: Any) -> Any:
    """Without what was measured by the clock, which is never the same twice."""
    if isinstance(value, dict):
        return {name: leave_out_times(one) for name, one in value.items() if name != "timings"}
    return [leave_out_times(one) for one in value] if isinstance(value, list) else value


def test_a_result_has_values_a_table_and_trees() -> None:
    result = weighbeam.score(Brief(), ask(("ada", "Rain."), ("bob", "Because of rain.")))
    assert (result.value("ada"), result.value("bob"), result.best) == (0.5, 0.25, "ada")
    assert result.table() == [
        {"hotkey": "ada", "status": "valid", "value": 0.5, "best": True, "reasons": "", "brevity": 0.5},
        {"hotkey": "bob", "status": "valid", "value": 0.25, "best": False, "reasons": "", "brevity": 0.25},
    ]
    assert repr(result) == "<ScoreResult of brief: ada 0.5, bob 0.25>"
    assert str(result.explain("ada")).splitlines()[:2] == ["ada: 0.5", "├── brevity = 0.5 = 0.5"]
    assert result.report()["best"] == "ada"
    for ask_for in (result.value, result.explain):
        with pytest.raises(WeighbeamError, match="unknown_hotkey"):
            ask_for("nobody")


def test_rows_of_a_table_have_the_same_columns() -> None:
    question = {"document": "One two three.", "answers": [{"chunks": ["One two three."]}, {"chunks": ["One two."]}]}
    rows = weighbeam.score("chunking", {**question, "chunk_seize": 3}).table()
    assert [row["status"] for row in rows] == ["valid", "failed"]
    assert list(rows[0]) == list(rows[1])
    assert rows[1]["similarity"] is None


def test_keys_that_nothing_reads_are_reported() -> None:
    question = {"document": "One two.", "chunk_seize": 3, "answers": [{"chunks": ["One two."], "second": 1}]}
    assert weighbeam.score("chunking", question).report()["ignored"] == ["chunk_seize", "answers[].second"]
    assert "ignored" not in weighbeam.score(Brief(), ask(("a", "b"))).report()


def test_what_miners_send_is_escaped_in_a_notebook() -> None:
    class Echo(Brief):
        name = "<b>echo</b>"

        def measure(self, task: Any, reply: Any, senses: Any) -> dict[str, Any]:
            return {"words": 1, "said": reply["text"]}

        def grade(self, params: Any, facts: Any) -> Any:
            return {"<i>brevity</i>": 0.5}

    result = weighbeam.score(Echo(), ask((EVIL, EVIL), ("a" * 500, "b")))
    shown = result._repr_html_()
    assert re.findall(r"</?(\w+)[^>]*>", shown) == re.findall(r"</?(table|caption|thead|tbody|tr|th|td)>", shown)
    assert html.escape('<script>alert("x")</script>') in shown
    assert "\x1b" not in shown + repr(result) + str(result.explain(EVIL))
    assert "a" * 61 not in shown + repr(result)


def test_parameters_are_given_by_name_or_as_they_are() -> None:
    question = json.loads((EXAMPLES / "chunking.json").read_text())
    chunking = weighbeam.load_mechanism("chunking")
    named = weighbeam.score("chunking", question, params={"num_embeddings": 20})
    whole = weighbeam.score(chunking, question, params=chunking.params_type(num_embeddings=20))
    assert named.report() == whole.report() != weighbeam.score("chunking", question).report()
    with pytest.raises(WeighbeamError, match="no parameter is called nmu"):
        weighbeam.score("chunking", question, params={"nmu": 1})


def test_all_answers_are_explained_in_one_tree() -> None:
    tree = weighbeam.explain(Brief(), ask(("ada", "Rain."), ("bob", "Because of rain.")))
    assert [child.text for child in tree.children] == ["ada: 0.5", "bob: 0.25"]
    assert weighbeam.explain(Brief(), ask(("ada", "Rain.")), "ada") == tree.children[0]


def test_bad_questions_are_refused_with_a_remedy(tmp_path: Path) -> None:
    for question in ({}, [], {"answers": "none"}, tmp_path / "missing.json"):
        with pytest.raises(WeighbeamError) as refusal:
            weighbeam.score("chunking", question)
        assert refusal.value.remedy
    with pytest.raises(WeighbeamError, match="unknown_mechanism"):
        weighbeam.score("chunkign", {})


def test_pairs_are_judged(senses: LocalSenses) -> None:
    (same, other) = weighbeam.entail([("A man sleeps.", "Somebody is asleep."), ("A man sleeps.", "A man runs.")])
    assert same.entailment > 0.5 > same.contradiction
    assert other.contradiction > 0.5
    assert sum(same) == pytest.approx(1.0)
    assert weighbeam.entail([], senses=senses) == []


def test_a_journal_is_replayed_and_its_rounds_are_explained() -> None:
    found = weighbeam.replay(JOURNAL)
    assert (found.is_equal, found.faults) == (True, ())
    assert found.entries > 40
    with closing(sqlite3.connect(f"file:{JOURNAL}?mode=ro", uri=True)) as held:
        (name,) = held.execute("SELECT id FROM rounds WHERE mechanism = 'chunking' AND state = 'scored'").fetchone()
    assert repr(found) == f"<JournalReplay: {found.entries} entries, all equal>"
    assert f"<caption>replay: {found.entries} entries, all equal</caption>" in found._repr_html_()
    bad = replace(found, faults=(ReplayedEntry(7, "<b>round</b>", "differs"),))
    assert repr(bad) == f"<JournalReplay: {found.entries} entries, 1 differ>"
    assert "<td>7</td><td>&lt;b&gt;round&lt;/b&gt;</td><td>differs</td>" in bad._repr_html_()
    result = found.round(name)
    assert all(str(result.explain(row["hotkey"])).startswith(row["hotkey"]) for row in result.table())
    with pytest.raises(WeighbeamError, match="unknown_round"):
        found.round("no-such-round")
    code = "import json, sys, weighbeam; weighbeam.replay(sys.argv[1]); print(json.dumps('onnxruntime' in sys.modules))"
    assert run(code, JOURNAL) is False


def test_a_journal_is_backtested() -> None:
    found = weighbeam.backtest(JOURNAL, {"weigh_in.ema_alpha": 0.8})
    assert found.changes == ("weigh_in.ema_alpha 0.3 → 0.8",)
    assert not found.as_json()["equal"]
    assert repr(found).endswith(": weigh_in.ema_alpha 0.3 → 0.8, differs>")
    assert "<caption>backtest: weigh_in.ema_alpha 0.3 → 0.8</caption>" in found._repr_html_()
    with pytest.raises(WeighbeamError, match="bad_setting"):
        weighbeam.backtest(JOURNAL, {"alpha": 0.5})


def test_a_mechanism_is_checked_by_object_class_or_name() -> None:
    for subject in (Brief(), Brief):
        assert all(finding.ok for finding in weighbeam.check_mechanism(subject))
    assert len(weighbeam.check_mechanism("novelty")) > 10


def test_a_question_is_scored_by_a_class_as_by_an_object() -> None:
    question = ask(("ada", "Rain."))
    assert weighbeam.score(Brief, question).report() == weighbeam.score(Brief(), question).report()
    assert weighbeam.explain(Brief, question, "ada").text == "ada: 0.5"


class Gradeless(Brief):
    grade = Mechanism.grade


class Older:
    name = "older"

    def score(self, params: Any, observation: Any) -> None: ...


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (Older, "old_contract"),
        (Older(), "old_contract"),
        (type("Numbered", (Brief,), {"contract": 1}), "old_contract"),
        (Gradeless, "missing_verb"),
        (Gradeless(), "missing_verb"),
        (type("Paged", (Brief,), {"page": "hello"}), "bad_mechanism"),
        (type("Unmade", (Brief,), {"__init__": lambda self, more: None}), "broken_mechanism"),
        (7, "unknown_mechanism"),
        (None, "unknown_mechanism"),
        ([], "unknown_mechanism"),
    ],
)
def test_what_is_not_a_mechanism_is_refused_with_a_remedy(given: Any, code: str) -> None:
    question = ask(("ada", "Rain."))
    attempts = (
        lambda: weighbeam.check_mechanism(given),
        lambda: weighbeam.score(given, question),
        lambda: weighbeam.explain(given, question),
    )
    for attempt in attempts:
        with pytest.raises(WeighbeamError) as refusal:
            attempt()
        assert refusal.value.code == code
        assert refusal.value.remedy


@pytest.mark.parametrize("options", [None, {"nose": 1}])
def test_bad_options_of_the_senses_are_refused(options: Any) -> None:
    kind = type("Nosy", (Brief,), {"lab_senses": lambda self: options})
    with pytest.raises(WeighbeamError, match=r"bad_mechanism: lab_senses of 'brief': TypeError"):
        weighbeam.check_mechanism(kind)


@pytest.mark.parametrize("name", [[], None, 7, {}])
def test_a_name_that_is_not_a_string_is_refused(name: Any) -> None:
    with pytest.raises(WeighbeamError, match=r"unknown_mechanism.*use one of: chunking"):
        weighbeam.load_mechanism(name)


@pytest.mark.parametrize("pairs", [[("a",)], [("a", "b", "c")], ["ab"], [("a", 1)], "ab", None, 7])
def test_bad_pairs_are_refused(pairs: Any) -> None:
    with pytest.raises(WeighbeamError, match="bad_pairs") as refusal:
        weighbeam.entail(pairs)
    assert refusal.value.remedy


def test_a_desk_pays_and_tells_what_it_paid(tmp_path: Path) -> None:
    desk = weighbeam.open_novelty(tmp_path / "novelty.db", limits={"per_contributor": 150 * 10**9})
    receipt = desk.submit("ada", "Sea otters hold hands while they sleep.")
    assert desk.tokens(receipt["units"]) == "100"
    assert desk.verify(receipt) == receipt["node"]
    assert desk.balance("ada") == desk.balances()[0] == {"contributor": "ada", "units": 100 * 10**9, "held": 0}
    with pytest.raises(WeighbeamError, match="bad_receipt"):
        desk.verify({**receipt, "units": 1})
    for limits in ({"per_week": 1}, {"per_day": -1}, {"per_day": 0.5}):
        with pytest.raises(WeighbeamError, match="bad_params"):
            weighbeam.open_novelty(tmp_path / "novelty.db", limits=limits)
    with pytest.raises(WeighbeamError, match="bad_params"):
        weighbeam.open_novelty(tmp_path / "novelty.db", params={"curve": "steep"})


def list_snippets() -> list[tuple[str, str]]:
    """Everything a reader may copy: examples, notebook cells, fenced Python and indented code of pages and README."""
    found = [(str(path.relative_to(ROOT)), path.read_text()) for path in sorted(EXAMPLES.rglob("*.py"))]
    found += [(path.name, path.read_text()) for path in sorted(TEMPLATES.glob("*.py.txt"))]
    for path in sorted(EXAMPLES.rglob("*.ipynb")):
        cells = json.loads(path.read_text())["cells"]
        found.append((path.name, "\n".join("".join(cell["source"]) for cell in cells)))
    for page in PAGES:
        text, name = page.read_text(), str(page.relative_to(ROOT))
        blocks = re.findall(r"^```(?:python|pycon|console)[^\n]*\n(.*?)^```", text, re.M | re.S)
        indented = "\n".join(re.findall(r"^(?: {4}|\t).*", text, re.M))
        found += [(f"{name}:{number}", block) for number, block in enumerate([*blocks, indented])]
    return found


def find_deeper_imports(text: str) -> list[str]:
    """Imports of anything of weighbeam that is not a public name."""
    deeper = re.findall(r"\b(?:from|import)\s+(?:[\w., ]*,\s*)?(weighbeam\.\w[\w.]*)", text)
    listed = re.findall(r"\bfrom\s+weighbeam\s+import\s+(?:\(([^)]*)\)|([^\n#;]*))", text)
    names = [name.split()[0] for pair in listed for name in "".join(pair).split(",") if name.strip()]
    return deeper + [name for name in names if name not in PUBLIC.split()]


def test_examples_and_pages_import_only_the_door() -> None:
    snippets = list_snippets()
    assert {"examples/mechanism_package/src/keyword_recall/mechanism.py", "mechanism.py.txt"} <= {
        where for where, _ in snippets
    }
    assert [(where, name) for where, text in snippets for name in find_deeper_imports(text)] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from weighbeam import Mechanism, Params as P", []),
        ("import weighbeam", []),
        ("from weighbeam import engine", ["engine"]),
        ("    from weighbeam import Node, lab  # why", ["lab"]),
        ("from weighbeam import (\n    Node,\n    mechanism as base,\n)", ["mechanism"]),
        ("from weighbeam.lab import x", ["weighbeam.lab"]),
        ("import json, weighbeam.store as store", ["weighbeam.store"]),
        (">>> import weighbeam.core.errors", ["weighbeam.core.errors"]),
    ],
)
def test_a_deeper_import_is_found(text: str, found: list[str]) -> None:
    assert find_deeper_imports(text) == found
