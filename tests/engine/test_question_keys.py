"""Keys of a question that nothing reads, and questions that are another mechanism's."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests_root import ROOT
from warm import weighbeam_warm
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.question_keys import describe_unread, list_unread, refuse_foreign
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.registry import load_mechanism

EXAMPLES = ROOT / "examples"
NAMES = ("chunking", "evidence", "inference", "novelty")


def load_example(name: str) -> Any:
    return json.loads((EXAMPLES / f"{name}.json").read_text())


@pytest.mark.parametrize("name", NAMES)
def test_every_key_of_our_examples_is_read(name: str) -> None:
    assert list_unread(load_mechanism(name).question_keys, load_example(name)) == []
    refuse_foreign(load_mechanism(name), load_example(name))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("other", NAMES)
def test_a_question_of_another_mechanism_is_known_by_its_keys(name: str, other: str) -> None:
    if name == other:
        return
    with pytest.raises(WeighbeamError, match=f"this is a question of {other}, not of {name}") as refused:
        refuse_foreign(load_mechanism(name), load_example(other))
    assert (refused.value.code, refused.value.remedy) == ("bad_question", f"use weighbeam score {other} FILE")


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("chunking", {"document": "", "chunk_seize": 40, "answers": []}, "chunk_seize (did you mean chunk_size?)"),
        ("evidence", {"answers": [{"snippets": [{"ulr": "x"}]}]}, "answers[].snippets[].ulr (did you mean url?)"),
        ("inference", {"promt": "Why?"}, "promt (did you mean prompt?)"),
        (
            "novelty",
            {"contributions": [{"contributer": "a"}]},
            "contributions[].contributer (did you mean contributor?)",
        ),
        ("novelty", {"zzz": 1}, "nothing reads zzz"),
    ],
)
def test_a_misspelt_key_is_named_with_the_key_it_is_like(name: str, data: Any, said: str) -> None:
    assert said in describe_unread(load_mechanism(name).question_keys, data)


@pytest.mark.parametrize("data", [None, [], 7, "text", {"answers": {}}, {"answers": [7, None]}, {7: 1, "answers": 3}])
def test_what_is_no_question_is_left_to_the_mechanism(data: Any) -> None:
    for name in NAMES:
        describe_unread(load_mechanism(name).question_keys, data)
        refuse_foreign(load_mechanism(name), data)


def test_a_mechanism_that_declares_no_keys_may_read_any() -> None:
    mechanism = load_mechanism("keyword-recall")
    assert type(mechanism).question_keys is Mechanism.question_keys
    assert describe_unread(mechanism.question_keys, {"whatever": 1}) == ""
    refuse_foreign(mechanism, load_example("chunking"))


def test_many_hostile_keys_come_to_one_short_line() -> None:
    data = {f"{number}\x1b]0;{'k' * 5000}": 1 for number in range(5000)}
    said = describe_unread(load_mechanism("chunking").question_keys, data)
    assert said.endswith("and 4995 more")
    assert len(said) < 600


def test_the_command_names_what_it_did_not_read(tmp_path: Path, cache: Path) -> None:
    """As a warning where the answers can be scored, with the error where they cannot; the JSON is as it was."""
    question = load_example("inference")
    file = tmp_path / "question.json"
    environment = {"WEIGHBEAM_CACHE": str(cache)}
    file.write_text(json.dumps({**question, "temprature": 0.5, "bad\x1b[31m": 1}))
    shown = weighbeam_warm("score", "inference", file, **environment)
    assert shown.returncode == 0
    assert "temprature (did you mean temperature?)" in shown.stderr
    assert "\x1b" not in shown.stderr
    as_json = weighbeam_warm("score", "inference", file, "--json", **environment)
    assert as_json.stderr == ""
    plain = tmp_path / "plain.json"
    plain.write_text(json.dumps(question))
    assert as_json.stdout == weighbeam_warm("score", "inference", plain, "--json", **environment).stdout
    file.write_text(json.dumps({"promt": question["prompt"], "answers": question["answers"]}))
    failed = weighbeam_warm("score", "inference", file, **environment)
    assert failed.returncode == 2
    assert "promt (did you mean prompt?)" in failed.stderr
