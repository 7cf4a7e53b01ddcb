"""Labelled pairs: every format that is read, and what a desk pays for the second text of a pair."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weighbeam.core.errors import WeighbeamError
from weighbeam.lab.validity.run import LabelledData, RowChoice, load_rows
from weighbeam.mechanisms.novelty.lab.validity import PairRow, judge_pairs, measure_pairs
from weighbeam.mechanisms.novelty.mechanism import Novelty
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.senses.local import LocalSenses

OTTERS = "Sea otters hold hands while they sleep, so that the current does not carry one of them away."
BRIDGE = "A steel bridge is longer on a summer afternoon than on the coldest night of winter."


def load(file: Path, text: str) -> LabelledData:
    file.write_text(text, "utf-8")
    return load_rows(Novelty(), [file], RowChoice())


def list_pairs(found: LabelledData) -> list[tuple[str, str, bool]]:
    return [(row.a, row.b, row.same) for rows in found.rows["pair"].values() for row in rows]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("qqp.tsv", "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n1\t3\t4\tone\ttwo\t1\n"),
        ("qqp.csv", '"id","question1","question2","is_duplicate"\n"1","one","two","1"\n'),
        ("paws.tsv", "id\tsentence1\tsentence2\tlabel\n1\tone\ttwo\t1\n"),
        ("mrpc.tsv", "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t7\t8\tone\ttwo\n"),
        ("stsb.tsv", "index\tsentence1\tsentence2\tscore\n1\tone\ttwo\t4.000\n"),
        ("own.jsonl", '{"a": "one", "b": "two", "same": true}\n'),
        ("real.jsonl", '{"set": "x", "a": "one", "b": "two", "same": 1, "score": 4.2}\n'),
    ],
)
def test_public_formats(name: str, text: str, tmp_path: Path) -> None:
    assert list_pairs(load(tmp_path / name, text)) == [("one", "two", True)]


def test_what_lies_between_is_left_out(tmp_path: Path) -> None:
    scores = "".join(f"one\t{number}\t{score}\n" for number, score in enumerate((0, 1.0, 1.2, 3.99, 4, 5)))
    found = load(tmp_path / "stsb.tsv", "sentence1\tsentence2\tscore\n" + scores)
    assert [same for _, _, same in list_pairs(found)] == [False, False, True, True]
    assert found.left_out == {"pair": 2}
    unlabelled = load(tmp_path / "p.jsonl", '{"a": "x", "b": "y", "same": null}\n{"a": "x", "b": "y", "same": 0}\n')
    assert (list_pairs(unlabelled), unlabelled.left_out) == ([("x", "y", False)], {"pair": 1})


@pytest.mark.parametrize("same", [2, "perhaps", [True], 0.5])
def test_a_label_is_yes_or_no(same: Any, tmp_path: Path) -> None:
    with pytest.raises(WeighbeamError, match=r"bad_rows: .*p.jsonl:1: same"):
        load(tmp_path / "p.jsonl", json.dumps({"a": "x", "b": "y", "same": same}))


@pytest.mark.parametrize("score", ["high", "-1", "9", "nan"])
def test_a_score_is_of_the_scale(score: str, tmp_path: Path) -> None:
    with pytest.raises(WeighbeamError, match=r"bad_rows: .*stsb.tsv:2: same"):
        load(tmp_path / "stsb.tsv", f"sentence1\tsentence2\tscore\nx\ty\t{score}\n")


def test_a_desk_pays_for_what_is_new(senses: LocalSenses) -> None:
    texts = [(OTTERS, f"  {OTTERS.upper()}", True), (OTTERS, BRIDGE, False), (OTTERS, "zxq wvk jjp qqz xkcd", False)]
    rows = [PairRow(set="s", a=a, b=b, same=same) for a, b, same in texts]
    rows.append(PairRow(set="s", a="No.", b="So.", same=False))
    copy, new, gibberish, short = list(judge_pairs(NoveltyParams(), rows, senses))
    assert (copy.share, copy.refused) == (0.0, False)
    assert (new.share, new.refused) == (1.0, False)
    assert (gibberish.share, gibberish.refused) == (0.0, True)
    assert (short.share, short.refused) == (0.0, True)
    got = measure_pairs(rows, [copy, new, gibberish, short], np.random.default_rng(0)).findings
    assert (got["repeats_paid"].value, got["new_refused"].value) == (0.0, pytest.approx(2 / 3))
    assert got["auc"].value == pytest.approx((1 + 0.5 + 0.5) / 3)


def test_no_second_text_is_compared_with_another(senses: LocalSenses) -> None:
    """Each is handed in to a desk that knows the first texts alone."""
    rows = [PairRow(set="s", a=OTTERS, b=BRIDGE, same=False)] * 2
    assert [one.share for one in judge_pairs(NoveltyParams(), rows, senses)] == [1.0, 1.0]


def test_parameters_count(senses: LocalSenses) -> None:
    rows = [PairRow(set="s", a=OTTERS, b=BRIDGE, same=False)]
    (paid,) = judge_pairs(NoveltyParams(reference_similarity=-1.0), rows, senses)
    assert paid.share == 0.0
