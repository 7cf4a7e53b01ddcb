"""A package that breaks the contract gets one clear error, and never stops the other mechanisms."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from command import weighbeam
from mechanism.fragile import (
    Averaging,
    Backwards,
    Counting,
    Dividing,
    Fragile,
    Leaving,
    Miscalculating,
    Partless,
    Raising,
    Shapeless,
    Trusting,
    Unobservant,
    Valueless,
    Withdrawing,
    Wordy,
)
from mechanism.installed_package import install
from weighbeam.app.service.apps import load_runs
from weighbeam.app.settings.sources import load_settings
from weighbeam.app.validator.build import build_validator
from weighbeam.chain.local.administer import register
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.cli.score.tables import show_scores
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.running.diagnosis import diagnose
from weighbeam.engine.scoring import score_question
from weighbeam.engine.vectors import collect_stages
from weighbeam.engine.views.alert_lines import list_alerts
from weighbeam.lab.attack.catalogue import list_attacks
from weighbeam.lab.simulate.worlds import load_senses
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.checks import check_mechanism, run_checks
from weighbeam.mechanism.records import Answer, Asked, Group, Task
from weighbeam.mechanism.registry import (
    HOOKS,
    UNUSABLE,
    call_hook,
    list_broken,
    list_mechanisms,
    load_mechanism,
    load_mechanisms,
)
from weighbeam.network.keys import Hotkey
from weighbeam.senses.local import LocalSenses

FOUR = {"chunking", "evidence", "inference", "novelty"}
ALICE = Hotkey.from_uri("//Alice")
GOOD = """
    from weighbeam.mechanism.base import Mechanism
    from weighbeam.mechanism.params import Params

    class Odd(Mechanism):
        name = "odd"
        example = {"task": {}, "answers": [{"n": 1}]}
        def task(self, params, seed):
            return {"seed": str(seed)}
        def measure(self, task, reply, senses):
            return {"n": reply["n"]}
        def grade(self, params, facts):
            return {"part": 0.5}
"""
OLD = """
    class Odd:
        name = "odd"
        kind = "asked"
        def score(self, params, observation):
            return None
"""


def write(folder: Path, source: str, module: str = "odd_package") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{module}.py").write_text(dedent(source), "utf-8")
    return folder


def change(*lines: str) -> str:
    """The good class with more lines, which may replace what it has."""
    return GOOD + "".join(f"        {line}\n" for line in lines)


BROKEN = [
    ("import nothing_of_this_name", "broken_mechanism", "nothing_of_this_name"),
    ("raise SystemExit(3)", "broken_mechanism", "SystemExit"),
    ("class Other: ...", "broken_mechanism", "Odd"),
    ("Odd = 7", "old_contract", "not a subclass of weighbeam.Mechanism"),
    (OLD, "old_contract", "not a subclass of weighbeam.Mechanism"),
    (change("contract = 1"), "old_contract", "written for contract 1, this weighbeam has contract 2"),
    (change("measure = Mechanism.measure"), "missing_verb", "does not define measure"),
    (change("task = Mechanism.task", "grade = Mechanism.grade"), "missing_verb", "does not define task and grade"),
    (change("def __init__(self, more): ..."), "broken_mechanism", "cannot be made: TypeError"),
    (change("name = 'even'"), "bad_mechanism", "name is 'even', its entry point says 'odd'"),
    (change("name = 7"), "bad_mechanism", "name must be a string"),
    (change("kind = 'polled'"), "bad_mechanism", "kind must be"),
    (change("better = 'more'"), "bad_mechanism", "better must be"),
    (change("params_type = dict"), "bad_mechanism", "params_type must be a subclass of weighbeam.Params"),
    (change("reply_type = str"), "bad_mechanism", "reply_type must be a pydantic model"),
    (change("question_model = {}"), "bad_mechanism", "question_model must be a pydantic model"),
    (change("rule = 'own'"), "bad_mechanism", "rule must be a WeighRule"),
    (change("version_key = '1'"), "bad_mechanism", "version_key must be an integer"),
    (change("example = {'answers': []}"), "bad_mechanism", "example must be"),
    (change("uses = ['embedder']"), "bad_mechanism", "uses must be"),
    (change("uses = ('nose',)"), "bad_mechanism", "uses must be"),
    (change("meanings = ['x']"), "bad_mechanism", "meanings must map"),
    (change("measures = {'x': 1}"), "bad_mechanism", "measures must map"),
    (change("suspicious = {'x': 1}"), "bad_mechanism", "suspicious must map"),
    (change("max_reply_bytes = 0"), "bad_mechanism", "max_reply_bytes must be a positive integer"),
    (change("max_request_bytes = '1'"), "bad_mechanism", "max_request_bytes must be a positive integer"),
    (change("weigh = 3"), "bad_mechanism", "weigh must be a method"),
    (change("def __init__(self): raise SystemExit(3)"), "broken_mechanism", "cannot be made: SystemExit: 3"),
    (change("page = 'hello'"), "bad_mechanism", "page must be a Mechanism.MechanismPage"),
    (change("page = Mechanism.MechanismPage(lead=7)"), "bad_mechanism", "page must be a Mechanism.MechanismPage"),
    (change("served_alone = 'no'"), "bad_mechanism", "served_alone must be true or false"),
    (change("reads_pages = 1"), "bad_mechanism", "reads_pages must be true or false"),
    (change("read_by = {'alpha': 'stand'}"), "bad_mechanism", "read_by must map parameters"),
    (change("@property", "def read_by(self): raise KeyError"), "bad_mechanism", "read_by must map parameters"),
    (change("about = None"), "bad_mechanism", "about must be a string"),
    (change("burns = True"), "bad_mechanism", "burns cannot be set: override burn_share or weigh_burning"),
    (change("narrates = True"), "bad_mechanism", "narrates cannot be set: override draw or tell"),
    (change("kind = 'collected'"), "bad_mechanism", 'kind is "collected", so override collector'),
    (change("class params_type(Params):", "    tolerance: float"), "bad_mechanism", "tolerance has no default"),
]


@pytest.mark.parametrize(("source", "code", "words"), BROKEN)
def test_it_gets_one_clear_error_and_stops_no_other(source: str, code: str, words: str, tmp_path: Path) -> None:
    with install(write(tmp_path / "site", source), {"odd": "odd_package:Odd"}, "odd-package"):
        with pytest.raises(WeighbeamError) as caught:
            load_mechanism("odd")
        assert caught.value.code == code
        assert code in UNUSABLE
        assert words in caught.value.message
        assert "odd-package" in caught.value.remedy
        assert set(load_mechanisms()) >= FOUR
        assert list_broken()["odd"].code == code


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    source = change("kind = 'polled'", "rule = None", "uses = 7")
    site, said = write(tmp_path / "site", source), r"kind must be.*rule must be.*uses must be"
    with install(site, {"odd": "odd_package:Odd"}), pytest.raises(WeighbeamError, match=said):
        load_mechanism("odd")


def test_a_good_one_loads(tmp_path: Path) -> None:
    with install(write(tmp_path / "site", GOOD), {"odd": "odd_package:Odd"}):
        assert load_mechanism("odd").name == "odd"
        assert list_broken() == {}


def test_a_name_that_two_packages_claim_is_refused_and_no_other(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a", GOOD), write(tmp_path / "b", GOOD, "other_package")
    with (
        install(first, {"odd": "odd_package:Odd"}, "one"),
        install(second, {"odd": "other_package:Odd"}, "two"),
    ):
        with pytest.raises(WeighbeamError, match=r"duplicate_mechanism.*odd_package:Odd and other_package:Odd"):
            load_mechanism("odd")
        assert set(load_mechanisms()) >= FOUR
        assert "odd" not in list_mechanisms()
        assert list_broken()["odd"].code == "duplicate_mechanism"


def test_nobody_takes_a_name_of_our_own(tmp_path: Path) -> None:
    with install(write(tmp_path / "site", GOOD), {"chunking": "odd_package:Odd"}):
        assert type(load_mechanism("chunking")).__module__.startswith("weighbeam.")
        assert set(load_mechanisms()) >= FOUR
        assert list_broken()["chunking"].code == "duplicate_mechanism"


def test_remedies_name_the_method_the_file_and_the_package(tmp_path: Path) -> None:
    with install(write(tmp_path / "a", change("grade = Mechanism.grade")), {"odd": "odd_package:Odd"}, "demo-words"):
        assert list_broken()["odd"].remedy == "write `grade` in demo-words (the guide 'Write a mechanism')"
    site = write(tmp_path / "b", "class Odd(:")
    with install(site, {"odd": "odd_package:Odd"}, "demo-words"):
        assert list_broken()["odd"].remedy == f"fix {site / 'odd_package.py'}, or upgrade or reinstall demo-words"


RAISING = change(
    "def stages(self): raise RuntimeError('no stages')",
    "def attacks(self): raise RuntimeError('no attacks')",
    "def lab_senses(self): raise RuntimeError('no senses')",
)


WRONG = change(
    "def stages(self): return None",
    "def attacks(self): return None",
    "def lab_senses(self): return {1: 'nose'}",
)
LEAVING = change(
    "def stages(self): raise SystemExit(3)",
    "def attacks(self): return ['steal']",
    "def lab_senses(self): return None",
)


@pytest.mark.parametrize("source", [WRONG, LEAVING])
def test_a_bad_result_of_a_hook_is_skipped_with_a_remedy(
    source: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with install(write(tmp_path / "site", source), {"odd": "odd_package:Odd"}, "odd-package"):
        for hook in HOOKS:
            assert "odd" not in call_hook(hook)
            assert set(call_hook(hook)) >= FOUR
            assert f"(fix `{hook}` in odd-package (the guide 'Write a mechanism'))" in caplog.text
        assert not any(stage.startswith("odd.") for stage in collect_stages())
        assert "odd" not in {attack.mechanism for attack in list_attacks()}
        load_senses("chunking")


@pytest.mark.parametrize("source", [OLD, RAISING, "import nothing_of_this_name"])
def test_lists_of_everything_go_on_without_it(source: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with install(write(tmp_path / "site", source), {"odd": "odd_package:Odd"}):
        assert {stage.split(".")[0] for stage in collect_stages()} >= FOUR
        assert {attack.mechanism for attack in list_attacks()} >= FOUR
    assert "mechanism odd is skipped" in caplog.text


def test_the_shell_lists_it_with_its_error(tmp_path: Path) -> None:
    with install(write(tmp_path / "site", OLD), {"odd": "odd_package:Odd"}) as site:
        path = f"{site}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
        listed = json.loads(weighbeam("mechanism", "list", "--json", PYTHONPATH=path).stdout)
        table = weighbeam("mechanism", "list", PYTHONPATH=path).stdout
    assert {one["name"] for one in listed["mechanisms"]} >= FOUR
    assert [(one["name"], one["code"]) for one in listed["broken"]] == [("odd", "old_contract")]
    assert "broken: odd [old_contract] 'odd' is not a subclass of weighbeam.Mechanism" in table


def test_doctor_names_it(tmp_path: Path) -> None:
    with install(write(tmp_path / "site", OLD), {"odd": "odd_package:Odd", "novelty": "odd_package:Odd"}):
        found = [(one.name, one.state) for one in diagnose() if one.name.startswith("mechanism")]
    assert ("mechanism odd", "fault") in found
    assert [state for name, state in found if name == "mechanism novelty"] == ["ok", "fault"]
    assert ("mechanism chunking", "ok") in found


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A chain with a validator, and a site with a broken package."""
    file = ChainFile.create(tmp_path / "chain.sqlite", SubnetParameters(mechanisms=2), manual=True)
    register(file, ALICE.address, stake=5000 * 10**9)
    advance(file, 1)
    file.close()
    with install(write(tmp_path / "site", OLD), {"odd": "odd_package:Odd"}):
        yield tmp_path


def write_settings(folder: Path, *names: str) -> Path:
    lines = ['[wallet]\nuri = "//Alice"', '[chain]\npath = "chain.sqlite"', '[store]\nurl = "sqlite:///journal.db"']
    lines += [f"[mechanisms.{name}]\nmechid = {number}" for number, name in enumerate(names)]
    (folder / "validator.toml").write_text("\n\n".join(lines), "utf-8")
    return folder / "validator.toml"


def test_a_validator_runs_the_others_and_raises_an_alert(folder: Path) -> None:
    loaded = load_settings(write_settings(folder, "odd", "chunking"), {})
    built = build_validator(loaded)
    assert [runner.name for runner in built.runners] == ["chunking"]
    (alert,) = list_alerts(built.runtime.store, limit=10).items
    assert (alert.code, alert.mechanism, alert.level) == ("mechanism_broken", "odd", "critical")
    assert "old_contract" in alert.text
    assert set(load_runs(loaded)) == {"chunking"}
    built.runtime.store.close()


def test_a_validator_with_nothing_else_to_run_does_not_start(folder: Path) -> None:
    with pytest.raises(WeighbeamError, match="old_contract"):
        build_validator(load_settings(write_settings(folder, "odd"), {}))


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        (Trusting, "measure of odd raised TypeError"),
        (Raising, "measure of answer-1 raised RuntimeError: thirteen"),
        (Dividing, "raised ZeroDivisionError"),
        (Unobservant, "raised RuntimeError: blind"),
        (Shapeless, "better must be"),
        (Backwards, "override it"),
        (Wordy, "raised TypeError: grade gave topic as str, not as a number"),
        (Counting, "raised TypeError: grade gave topic as str, not as a number"),
        (Partless, "raised ValueError: grade gave no parts"),
        (Valueless, "raised TypeError: recompute gave NoneType, not a number"),
        (Leaving, "measure of answer-1 raised SystemExit: 3"),
        (Withdrawing, "answer-0 was measured, and score leaves it unscored"),
        (Miscalculating, "a wrong product: a × b = 0.5 × 1 = 0.75"),
    ],
)
def test_the_checks_name_what_raises(broken: type[Mechanism], words: str, senses: LocalSenses) -> None:
    with pytest.raises(WeighbeamError, match=words) as caught:
        check_mechanism(broken(), senses)
    assert caught.value.code == "contract_broken"
    assert caught.value.remedy


@pytest.mark.parametrize("good", [Fragile, Averaging])
def test_a_good_one_passes(good: type[Mechanism], senses: LocalSenses) -> None:
    assert [finding for finding in run_checks(good(), senses) if not finding.ok] == []


def test_a_reply_that_cannot_be_judged_is_unscored_and_spoils_no_other() -> None:
    mechanism = Fragile()
    params = mechanism.params_type()
    sent = {"fine": {"n": 2}, "raising": {"n": 13}, "nan": {"n": 14}, "zero": {"n": 0}, "odd": ["x"]}
    answers = tuple(Answer(hotkey, payload, 0.123456789) for hotkey, payload in sent.items())
    asked = Asked(Task("t", {}), Group(tuple(sent)), answers, "seed")
    observation = mechanism.observe(params, asked, None)
    scored = mechanism.score(params, observation)
    assert {s.hotkey: (s.status, s.value) for s in scored.scores} == {
        "fine": ("valid", 0.5),
        "raising": ("unscored", None),
        "nan": ("unscored", None),
        "zero": ("unscored", None),
        "odd": ("failed", 0.0),
    }
    facts = observation.facts["rows"][0]["facts"]
    assert facts == {"n": 2, "more": [0.333333, {"x": 0.666667}], "seconds": 0.123457}
    told = mechanism.explain(params, observation, scored, "raising")
    assert told.text == "raising: unscored (validator_fault)"
    assert told.children[0].text == "RuntimeError: thirteen"


@pytest.mark.parametrize(
    ("kind", "n", "cause"),
    [
        (Fragile, 0, "ZeroDivisionError: division by zero"),
        (Wordy, 2, "TypeError: grade gave topic as str, not as a number"),
        (Counting, 2, "TypeError: grade gave topic as str, not as a number"),
        (Partless, 2, "ValueError: grade gave no parts"),
        (Leaving, 13, "SystemExit: 3"),
        (Leaving, 0, "SystemExit: zero"),
    ],
)
def test_the_cause_of_an_unscored_answer_is_shown(
    kind: type[Mechanism], n: int, cause: str, capfd: pytest.CaptureFixture[str]
) -> None:
    result = score_question(kind(), {"answers": [{"hotkey": "ada", "n": n}]}, None)
    (score,) = result.scored.scores
    assert (score.status, score.value, score.parts, score.reasons) == ("unscored", None, None, ("validator_fault",))
    assert str(result.explain("ada")).splitlines() == ["ada: unscored (validator_fault)", f"└── {cause}"]
    assert result.report()["answers"][0]["fault"] == cause
    show_scores(result)
    assert cause in " ".join(capfd.readouterr().err.split())


def test_what_an_exception_says_is_cut_and_printable() -> None:
    class Shouting(Fragile):
        def grade(self, *given):
            raise ValueError("\x1b[2J\n\ud800" + "a" * 10**6)

        measure = grade

    for told in (Shouting(), type("Half", (Shouting,), {"measure": Fragile.measure})()):
        result = score_question(told, {"answers": [{"hotkey": "ada", "n": 2}]}, None)
        (cause,) = result.explain("ada").children
        assert cause.text.startswith("ValueError: [2J aaa")
        assert len(cause.text) == 200
        result.observation.pack()


def test_only_a_product_is_explained_as_one() -> None:
    result = score_question(Averaging(), {"answers": [{"hotkey": "ada", "n": 2}]}, None)
    assert str(result.explain("ada")).splitlines() == [
        "ada: 0.75",
        "├── a: 0.5",
        "├── b: 1",
        "├── n: 2",
        "└── seconds: 0",
    ]


def test_burning_and_narrating_follow_from_what_is_overridden() -> None:
    class Burning(Fragile):
        def burn_share(self, params):
            return 0.5

        def tell(self, params, observation, picture, narrator, nonce):
            return None

    assert (Fragile().burns, Fragile().narrates) == (False, False)
    assert (Burning().burns, Burning().narrates) == (True, True)
    with pytest.raises(AttributeError):
        Burning().burns = False
    assert {name for name, one in load_mechanisms().items() if one.burns} == {"evidence"}
    assert {name for name, one in load_mechanisms().items() if one.narrates} == {"inference"}
