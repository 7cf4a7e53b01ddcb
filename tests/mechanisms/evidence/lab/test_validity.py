"""Labelled claims: every format that is read, and what the mechanism makes of passages."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from weighbeam.core.errors import WeighbeamError
from weighbeam.lab.validity.run import LabelledData, RowChoice, load_rows
from weighbeam.mechanisms.evidence.lab.validity import (
    ROW_KINDS,
    ClaimRow,
    VerdictRow,
    judge_claims,
    judge_passages,
    judge_verdicts,
    measure_claims,
)
from weighbeam.mechanisms.evidence.mechanism import Evidence
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.senses.local import LocalSenses

SNOW = ("Snow is frozen water.", "Snow falls when water vapour freezes high up in a cloud.")


class FixedEntailment:
    """Knows one word: what is `blind` in a passage speaks against a claim, surely; all else leaves it open."""

    id = digest = "fixed"

    def judge(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.int32]:
        rows = [
            (900_000, 60_000, 40_000) if "blind" in premise else (100_000, 800_000, 100_000) for premise, _ in pairs
        ]
        return np.array(rows, dtype=np.int32)


@pytest.fixture(scope="module")
def fixed(cache: Path) -> LocalSenses:
    senses = LocalSenses(cache=cache)
    vars(senses)["entailment"] = FixedEntailment()
    return senses


def load(folder: Path, name: str, *rows: Mapping[str, Any], **choice: Any) -> LabelledData:
    file = folder / name
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return load_rows(Evidence(), [file], RowChoice(**choice))


def list_claims(found: LabelledData, name: str) -> list[tuple[str, str]]:
    return [(row.evidence, row.label) for row in found.rows["claim"][name]]


@pytest.mark.parametrize(
    ("word", "label"),
    [("SUPPORTS", "entailment"), ("Refutes", "contradiction"), ("NOT ENOUGH INFO", "neutral"), ("neutral", "neutral")],
)
def test_fever_like_claims(word: str, label: str, tmp_path: Path) -> None:
    found = load(tmp_path, "dev.jsonl", {"id": 7, "claim": SNOW[0], "evidence": SNOW[1], "label": word})
    assert list_claims(found, "dev") == [(SNOW[1], label)]
    assert set(found.rows) == {"claim"}


def test_sentences_of_fever_are_joined_and_bare_references_refused(tmp_path: Path) -> None:
    row = {"claim": SNOW[0], "label": "SUPPORTS"}
    nested = {**row, "evidence": [[["Snow", 3, "Snow is ice."]], [["Ice", 1, "It is frozen water."]]]}
    found = load(tmp_path, "dev.jsonl", nested, {**row, "label": "NOT ENOUGH INFO", "evidence": [[[1, None, None]]]})
    assert list_claims(found, "dev") == [("Snow is ice. It is frozen water.", "entailment")]
    assert found.left_out == {"claim": 1}
    with pytest.raises(WeighbeamError, match=r"bad_rows: .*dev.jsonl:1: evidence names sentences and has no text"):
        load(tmp_path, "dev.jsonl", {**row, "evidence": [[[12, 34, "Snow", 3]]]})


def test_tables_with_columns_of_other_names(tmp_path: Path) -> None:
    table = tmp_path / "healthver.csv"
    table.write_text('id,evidence,claim,label\n1,"Ice melts, then boils.",Ice melts.,Supports\n', "utf-8")
    other = tmp_path / "scifact.tsv"
    other.write_text("claim\tabstract\tlabel\nIce melts.\tNobody looked at ice.\tNEI\n", "utf-8")
    nli = tmp_path / "nli.jsonl"
    rows = [{"sentence1": "It snows.", "sentence2": "It is warm.", "gold_label": one} for one in ("contradiction", "-")]
    nli.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = load_rows(Evidence(), [table, other, nli], RowChoice())
    assert list_claims(found, "healthver") == [("Ice melts, then boils.", "entailment")]
    assert list_claims(found, "scifact") == [("Nobody looked at ice.", "neutral")]
    assert list_claims(found, "nli") == [("It snows.", "contradiction")]
    assert found.left_out == {"claim": 1}


def test_climate_fever_has_claims_and_verdicts(tmp_path: Path) -> None:
    passages = [
        {"evidence": "Ice melts at zero degrees.", "evidence_label": "SUPPORTS", "article": "Ice"},
        {"evidence": "Ice is slippery in winter.", "evidence_label": "NOT_ENOUGH_INFO", "article": "Winter"},
    ]
    found = load(tmp_path, "c.jsonl", {"claim": "Ice melts.", "claim_label": "DISPUTED", "evidences": passages})
    assert [label for _, label in list_claims(found, "c")] == ["entailment", "neutral"]
    (row,) = found.rows["verdict"]["c"]
    assert isinstance(row, VerdictRow)
    assert (row.label, [one.domain for one in row.evidence]) == ("mixed", ["Ice", "Winter"])
    with pytest.raises(WeighbeamError, match="evidences must be a list of objects"):
        load(tmp_path, "c.jsonl", {"claim": "Ice melts.", "claim_label": "DISPUTED", "evidences": ["x"]})


def test_passages_one_by_one_are_put_together(tmp_path: Path) -> None:
    row = {"set": "s", "claim": "Ice melts.", "claim_id": 4, "claim_label": "Refuted", "domain": "a.example"}
    rows = [
        {**row, "evidence": "Ice never melts here.", "label": None},
        {**row, "evidence": "It is cold.", "label": "neutral"},
        {**row, "claim_id": 5, "claim_label": None, "evidence": "It is cold.", "label": None},
    ]
    found = load(tmp_path, "v.jsonl", *rows)
    assert [(one.label, len(one.evidence)) for one in found.rows["verdict"]["s"]] == [("refutes", 2)]
    assert list_claims(found, "s") == [("It is cold.", "neutral")]
    assert found.left_out == {"claim": 2, "verdict": 1}
    assert set(load(tmp_path, "v.jsonl", *rows, format="claim-passages").rows) == {"verdict"}


@pytest.mark.parametrize(
    "row",
    [
        {"claim": "Ice melts.", "evidence": "It does.", "label": "perhaps"},
        {"claim": 3, "evidence": "It does.", "label": "neutral"},
        {"claim": "", "evidence": "It does.", "label": "neutral"},
        {"claim": "Ice melts.", "evidence": [{"text": 3}], "label": "mixed"},
        {"claim": "Ice melts.", "evidence": [{"text": "It does."}], "label": ["mixed"]},
    ],
)
def test_a_bad_row_is_refused(row: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(WeighbeamError, match=r"bad_rows: .*x.jsonl:1: (label|claim|evidence)"):
        load(tmp_path, "x.jsonl", row)


AGAINST = "No bat is blind: all of them have eyes that see quite well in dim light."


def test_a_passage_is_paid_what_the_mechanism_pays(fixed: LocalSenses) -> None:
    claim = "Bats are blind."
    texts = [AGAINST, "The recipe asks for two eggs, a cup of sugar and some flour.", "So what?"]
    against, unrelated, short = judge_passages([(claim, text) for text in texts], EvidenceParams(), fixed)
    assert against.inference.stance == "refutes"
    assert (against.verdict.accepted, against.pay) == (True, against.verdict.score)
    assert 0 < against.pay <= against.inference.local
    assert (unrelated.verdict.reason, unrelated.pay) == ("unrelated_page", 0.0)
    assert (short.verdict.reason, short.pay) == ("invalid_excerpt", 0.0)
    echo = "Bats are blind, as everybody knows."
    (repeated,) = judge_passages([(echo, echo)], EvidenceParams(), fixed)
    assert (repeated.verdict.reason, repeated.pay) == ("too_similar", 0.0)


def test_claims_are_measured(fixed: LocalSenses) -> None:
    texts = [(AGAINST, "contradiction"), ("Bats sleep in caves and under old roofs.", "neutral"), (AGAINST, "neutral")]
    rows = [ClaimRow(set="s", claim="Bats are blind.", evidence=text, label=label) for text, label in texts]
    outcomes = list(judge_claims(EvidenceParams(), rows, fixed))
    got = measure_claims(rows, outcomes, np.random.default_rng(0))
    values = {name: one.value for name, one in got.findings.items()}
    assert values["accuracy"] == pytest.approx(2 / 3)
    assert values["pay_auc"] == 0.75
    assert values["settling_refused"] == 0.0
    assert values["pay_ratio"] > 1
    assert got.confusion is not None
    assert got.confusion.counts == ((1, 0, 0), (1, 1, 0))


def test_the_sets_that_come_with_it_can_be_judged(senses: LocalSenses) -> None:
    found = load_rows(Evidence(), (), RowChoice(limit=3))
    for kind in ROW_KINDS:
        (rows,) = found.rows[kind.name].values()
        outcomes = list(kind.judge(EvidenceParams(), rows, senses))
        measured = kind.measure(rows, outcomes, np.random.default_rng(0))
        assert set(measured.findings) <= set(kind.meanings)


def test_a_verdict_needs_as_many_domains_as_the_parameters_say(fixed: LocalSenses) -> None:
    both = [{"text": AGAINST, "domain": "a.example"}, {"text": f"{AGAINST} It is a myth.", "domain": "a.example"}]
    row = VerdictRow(set="s", claim="Bats are blind.", label="refutes", evidence=both)
    lone = EvidenceParams(verdict_min_domains=1, verdict_min_mass=0.5)
    assert list(judge_verdicts(lone, [row], fixed)) == ["refutes"]
    assert list(judge_verdicts(EvidenceParams(), [row], fixed)) == ["insufficient"]
    apart = row.model_copy(update={"evidence": [one.model_copy(update={"domain": None}) for one in row.evidence]})
    assert list(judge_verdicts(EvidenceParams(), [apart], fixed)) == ["refutes"]
