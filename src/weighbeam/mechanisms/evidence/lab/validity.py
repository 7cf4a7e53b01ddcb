"""Labelled claims: whether a passage settles a claim and which way, and the verdict over several passages.

A passage goes through the mechanism's own checks as if it had been quoted from a page that says just this, so that a
change of what is paid is a change of what is measured.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, field_validator

from weighbeam.lab.validity.kinds import LabelledRow, RowFormat, RowKind, convert_each, has_fields
from weighbeam.lab.validity.labels import CALL_MEANINGS, CLASS_MEANINGS, measure_calls, measure_classes
from weighbeam.lab.validity.measures import Findings, Measured, auc_of, ratio_of
from weighbeam.lab.validity.records import DataRecord
from weighbeam.mechanisms.evidence.excerpt.forms import parse_forms
from weighbeam.mechanisms.evidence.excerpt.text import clean_text, list_passages
from weighbeam.mechanisms.evidence.excerpt.tokens import drop_citations
from weighbeam.mechanisms.evidence.judge.models import embed_in_time, infer_in_time
from weighbeam.mechanisms.evidence.judge.nli import CLASSES, NliProbabilities, parse_inference
from weighbeam.mechanisms.evidence.judge.snippet import SnippetVerdict, judge_snippet
from weighbeam.mechanisms.evidence.judge.verdict import VerdictQuote, reach_verdict
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.url.verdict import UrlVerdict
from weighbeam.senses.ports.protocols import Senses

SAMPLES = Path(__file__).parent / "samples"
AT_ONCE = 32
MAX_TEXT = 100_000
KNOWN = "A known sentence of the bench."
VERDICTS = ("supports", "refutes", "mixed", "insufficient")
SIDES = ("supports", "refutes")
LABEL_WORDS = {
    "entailment": ("entailment", "supports", "supported", "support", "true"),
    "contradiction": ("contradiction", "refutes", "refuted", "contradict", "contradicts", "false"),
    "neutral": ("neutral", "not enough info", "not enough information", "not enough evidence", "nei"),
}
VERDICT_WORDS = {
    "supports": LABEL_WORDS["entailment"],
    "refutes": LABEL_WORDS["contradiction"],
    "mixed": ("mixed", "mixture", "disputed", "conflicting evidence/cherrypicking", "conflicting evidence"),
    "insufficient": ("insufficient", *LABEL_WORDS["neutral"]),
}
MEANINGS = {
    **CLASS_MEANINGS,
    "pay_auc": "a passage that settles the claim is paid more than one that does not; 50 % is a coin",
    "pay_ratio": "mean pay of passages that settle the claim over that of the others",
    "settling_refused": "passages that settle the claim and are refused",
}


def name_label(word: object, words: Mapping[str, Sequence[str]]) -> object:
    """A label by any word that the public sets use for it.

    >>> name_label("NOT_ENOUGH_INFO", LABEL_WORDS), name_label("Refuted", VERDICT_WORDS)
    ('neutral', 'refutes')
    """
    said = str(word).casefold().replace("_", " ").strip()
    return next((label for label, known in words.items() if said in known), word)


class ClaimRow(LabelledRow):
    """A claim, a passage, and what the passage does to the claim."""

    claim: str = Field(min_length=1, max_length=MAX_TEXT)
    evidence: str = Field(min_length=1, max_length=MAX_TEXT)
    label: Literal["contradiction", "neutral", "entailment"]

    @field_validator("label", mode="before")
    @classmethod
    def _name(cls, label: object) -> object:
        return name_label(label, LABEL_WORDS)


class VerdictPassage(BaseModel):
    """A passage of a claim; without a domain it counts as a domain of its own."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    text: str = Field(min_length=1, max_length=MAX_TEXT)
    domain: str | None = None


class VerdictRow(LabelledRow):
    """A claim, its passages, and what is known of the claim."""

    claim: str = Field(min_length=1, max_length=MAX_TEXT)
    evidence: list[VerdictPassage] = Field(min_length=1, max_length=1000)
    label: Literal["supports", "refutes", "mixed", "insufficient"]

    @field_validator("label", mode="before")
    @classmethod
    def _name(cls, label: object) -> object:
        return name_label(label, VERDICT_WORDS)


@dataclass(frozen=True, slots=True)
class JudgedPassage:
    """A passage with the model's output and the mechanism's result."""

    inference: NliProbabilities
    verdict: SnippetVerdict

    @property
    def pay(self) -> float:
        """Of one snippet, before bonus and speed; who is refused is paid nothing here, whatever the penalty."""
        return max(0.0, self.verdict.score or 0.0)


def judge_passages(pairs: Sequence[tuple[str, str]], params: EvidenceParams, senses: Senses) -> list[JudgedPassage]:
    """Pairs of (claim, passage), by the models and the checks of a round."""
    cleaned = [(clean_text(claim), clean_text(passage).strip()) for claim, passage in pairs]
    groups = [[claim, *list_passages(passage)] for claim, passage in cleaned]
    close = embed_in_time(groups, senses.embedder, KNOWN, _always)
    asked = [(drop_citations(passage), claim) for (claim, _), (_, passage) in zip(pairs, cleaned, strict=True)]
    found = infer_in_time(asked, senses.entailment, (KNOWN, KNOWN), _always)
    judged = []
    for (claim, passage), (clean, said), pair in zip(pairs, cleaned, asked, strict=True):
        facts = {
            "statement": claim,
            "similarity": close.compare(clean, list_passages(said)),
            "relevance": close.compare(clean, [said]),
            "page": {"outcome": "read"},
            "match": {"found": True},
            "nli": found.rows.get(pair),
        }
        known = parse_inference(facts["nli"]) or NliProbabilities(0.0, 1.0, 0.0)
        judged.append(JudgedPassage(known, judge_snippet(_make_url(), passage, facts, params)))
    return judged


def _always() -> bool:
    """A bench has time."""
    return True


def _make_url() -> UrlVerdict:
    """Of a page that nothing speaks against, on a domain that nobody has approved."""
    host = "example.org"
    return UrlVerdict(
        ok=True, reason=None, penalty=None, at=0, url=f"https://{host}/", host=host, domain=host, site=host,
        page=f"{host}/", kind="page", approved=False, multiplier=1.0, redirected=False,
    )  # fmt: skip


def judge_claims(params: EvidenceParams, rows: Sequence[ClaimRow], senses: Senses) -> Iterator[JudgedPassage]:
    left = iter(rows)
    while some := list(islice(left, AT_ONCE)):
        yield from judge_passages([(row.claim, row.evidence) for row in some], params, senses)


def measure_claims(
    rows: Sequence[ClaimRow], outcomes: Sequence[JudgedPassage], chance: np.random.Generator
) -> Measured:
    found, labels = Findings(chance), [row.label for row in rows]
    values = [(one.inference.contradiction, one.inference.neutral, one.inference.entailment) for one in outcomes]
    measured = measure_classes(found, labels, np.array(values), CLASSES)
    settles = [label != "neutral" for label in labels]
    pay = [one.pay for one in outcomes]
    found.draw("pay_auc", auc_of(pay, settles), len(rows))
    found.draw("pay_ratio", ratio_of(pay, settles), len(rows), is_share=False)
    refused = (one.verdict.accepted is not True for one, settled in zip(outcomes, settles, strict=True) if settled)
    found.share("settling_refused", refused)
    return measured


def judge_verdicts(params: EvidenceParams, rows: Sequence[VerdictRow], senses: Senses) -> Iterator[str]:
    for row in rows:
        judged = judge_passages([(row.claim, one.text) for one in row.evidence], params, senses)
        quotes = [
            VerdictQuote(
                page=str(number),
                forms=tuple(parse_forms(given.text)),
                domain=given.domain or str(number),
                multiplier=1.0,
                inference=one.inference,
                relevance_factor=one.verdict.relevance_factor or 0.0,
            )
            for number, (given, one) in enumerate(zip(row.evidence, judged, strict=True))
            if one.verdict.accepted
        ]
        yield str(reach_verdict(quotes, params)["verdict"])


def measure_verdicts(rows: Sequence[VerdictRow], outcomes: Sequence[str], chance: np.random.Generator) -> Measured:
    return measure_calls(Findings(chance), [row.label for row in rows], outcomes, VERDICTS, SIDES)


def _is_claim(fields: Mapping[str, Any]) -> bool:
    return has_fields("claim", "label")(fields) and isinstance(fields.get("evidence"), str)


def _keep_labelled(fields: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return None if fields["label"] in (None, "") else fields


def _is_fever(fields: Mapping[str, Any]) -> bool:
    """Sentences of the dump joined to the claim, as a list of texts or of lists that hold them."""
    given = fields.get("evidence")
    return has_fields("claim", "label")(fields) and isinstance(given, list) and not _has_objects(given)


def _has_objects(given: Sequence[Any]) -> bool:
    return bool(given) and all(isinstance(one, dict) for one in given)


def _convert_fever(records: Sequence[DataRecord]) -> Iterable[DataRecord | None]:
    for record in records:
        texts = [text for text in _flatten(record.fields["evidence"]) if len(text.split()) > 1]
        if not texts and name_label(record.fields["label"], LABEL_WORDS) != "neutral":
            remedy = "join the sentences of the dump to each claim first: evidence as text"
            raise record.refuse("evidence names sentences and has no text", remedy)
        yield record.change({**record.fields, "evidence": " ".join(texts)}) if texts else None


def _flatten(given: Any) -> Iterator[str]:
    if isinstance(given, str):
        yield given
    elif isinstance(given, list):
        for one in given:
            yield from _flatten(one)


PASSAGES = ("passage", "evidence_text", "evidence_sentence", "sentence", "abstract", "premise", "sentence1", "text")
CLAIMS = ("claim", "statement", "hypothesis", "sentence2")
LABELS = ("label", "gold_label", "evidence_label", "verdict")
NOBODY_AGREED = "-"


def _pick(fields: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((name for name in names if isinstance(fields.get(name), str)), None)


def _has_columns(fields: Mapping[str, Any]) -> bool:
    found = [_pick(fields, names) for names in (CLAIMS, PASSAGES, LABELS)]
    return "evidence" not in fields and None not in found


def _convert_columns(fields: Mapping[str, Any]) -> Mapping[str, Any] | None:
    claim, passage, label = (str(fields[_pick(fields, names) or ""]) for names in (CLAIMS, PASSAGES, LABELS))
    return None if label in (NOBODY_AGREED, "") else {"claim": claim, "evidence": passage, "label": label}


def _convert_climate_claims(records: Sequence[DataRecord]) -> Iterable[DataRecord | None]:
    for record in records:
        for one in _list_nested(record):
            said = {
                "claim": record.fields["claim"],
                "evidence": one.get("evidence"),
                "label": one.get("evidence_label"),
            }
            yield record.change(said)


def _convert_climate_verdicts(records: Sequence[DataRecord]) -> Iterable[DataRecord | None]:
    for record in records:
        passages = [{"text": one.get("evidence"), "domain": one.get("article")} for one in _list_nested(record)]
        yield record.change(
            {"claim": record.fields["claim"], "label": record.fields["claim_label"], "evidence": passages}
        )


def _list_nested(record: DataRecord) -> list[dict[str, Any]]:
    given = record.fields["evidences"]
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise record.refuse("evidences must be a list of objects", "correct the line")
    return given


def _is_passage(fields: Mapping[str, Any]) -> bool:
    return has_fields("claim", "claim_label")(fields) and isinstance(fields.get("evidence"), str)


def _convert_passages(records: Sequence[DataRecord]) -> Iterable[DataRecord | None]:
    """One line for each passage of a claim; the claim's label is that of its first line."""
    claims: dict[tuple[str, str], list[DataRecord]] = {}
    for record in records:
        named = record.fields.get("claim_id", record.fields["claim"])
        claims.setdefault((record.set, str(named)), []).append(record)
    for some in claims.values():
        first = some[0].fields
        passages = [{"text": one.fields["evidence"], "domain": one.fields.get("domain")} for one in some]
        told = {"claim": first["claim"], "label": first["claim_label"], "evidence": passages}
        yield some[0].change(told) if first["claim_label"] is not None else None


def _is_verdict(fields: Mapping[str, Any]) -> bool:
    given = fields.get("evidence")
    return has_fields("claim", "label")(fields) and isinstance(given, list) and _has_objects(given)


ROW_KINDS = (
    RowKind(
        name="claim",
        row=ClaimRow,
        formats=(
            RowFormat("claim", _is_claim, convert_each(_keep_labelled)),
            RowFormat("fever", _is_fever, _convert_fever),
            RowFormat("columns", _has_columns, convert_each(_convert_columns)),
            RowFormat("climate-fever", has_fields("claim", "evidences"), _convert_climate_claims),
        ),
        judge=judge_claims,
        measure=measure_claims,
        meanings=MEANINGS,
        sample=SAMPLES / "claims.jsonl",
    ),
    RowKind(
        name="verdict",
        row=VerdictRow,
        formats=(
            RowFormat("verdict", _is_verdict, convert_each(_keep_labelled)),
            RowFormat("claim-passages", _is_passage, _convert_passages),
            RowFormat("climate-fever", has_fields("claim", "claim_label", "evidences"), _convert_climate_verdicts),
        ),
        judge=judge_verdicts,
        measure=measure_verdicts,
        meanings=CALL_MEANINGS,
        sample=SAMPLES / "verdicts.jsonl",
    ),
)
