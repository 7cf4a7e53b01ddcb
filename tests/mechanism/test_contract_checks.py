"""`check_mechanism` passes what keeps the contract, and each of its checks catches a mechanism that does not."""

import pytest
from keyword_recall.mechanism import KeywordRecall

from mechanism.broken import (
    Charging,
    Clocked,
    Drawing,
    Empty,
    Favouring,
    Forgetful,
    Formatting,
    Gambling,
    Generous,
    Hashing,
    Listed,
    Nan,
    Negative,
    Overwriting,
    Partless,
    Peeking,
    Positional,
    Punishing,
    Reading,
    Repeating,
    Reticent,
    Rolling,
    Silent,
    Slow,
    Textual,
    Unbounded,
    Unexplained,
    Whimsical,
    Withholding,
)
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanism.checks import check_mechanism, run_checks
from weighbeam.mechanism.registry import list_mechanisms, load_mechanism
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.senses.local import LocalSenses


def test_chunking_keeps_the_contract(senses: LocalSenses) -> None:
    findings = check_mechanism(Chunking(), senses)
    assert len(findings) == 18


@pytest.mark.parametrize("overrides", [{"shape": "exp"}, {"shape": "literal"}, {"strict": True}, {"splitter": "punkt"}])
def test_so_does_every_variant_of_chunking(overrides: dict[str, object], senses: LocalSenses) -> None:
    check_mechanism(Chunking(), senses, {"num_embeddings": 5, "tie_alpha": "divide", "alpha_min": 0.1, **overrides})


def test_a_third_party_package_is_found_installed_and_keeps_it_too(senses: LocalSenses) -> None:
    assert list_mechanisms()["keyword-recall"].dist.name == "keyword-recall"
    mechanism = load_mechanism("keyword-recall")
    assert type(mechanism) is KeywordRecall
    check_mechanism(mechanism, senses)


def test_an_unknown_mechanism_is_named_with_those_that_exist() -> None:
    with pytest.raises(WeighbeamError, match=r"unknown_mechanism.*chunking,.* keyword-recall"):
        load_mechanism("nothing")


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (Nan, "no NaN"),
        (Unbounded, "within their bounds"),
        (Unexplained, "parts explain"),
        (Partless, "parts explain"),
        (Charging, "unscored stays"),
        (Punishing, "unscored stays"),
        (Forgetful, "one score"),
        (Positional, "order of answers"),
        (Hashing, "same bytes"),
        (Gambling, "same bytes"),
        (Gambling, "pure"),
        (Clocked, "pure"),
        (Reading, "pure"),
        (Formatting, "pure"),
        (Rolling, "pure"),
        (Peeking, "pure"),
        (Whimsical, "choice of miners"),
        (Listed, "choice of miners"),
        (Textual, "journaled"),
        (Overwriting, "pure"),
        (Slow, "fast enough"),
        (Silent, "explanation"),
        (Generous, "only for eligible"),
        (Negative, "only for eligible"),
        (Repeating, "generated tasks can be asked and depend only on the seed"),
        (Drawing, "generated tasks can be asked and depend only on the seed"),
        (Favouring, "the best answer is a valid one"),
        (Withholding, "the best answer is a valid one"),
        (Reticent, "`read_by`"),
        (Empty, "examples"),
    ],
)
def test_every_broken_promise_is_caught(broken: type[KeywordRecall], check: str, senses: LocalSenses) -> None:
    findings = run_checks(broken(), senses)
    faults = {finding.check: finding.fault for finding in findings if not finding.ok}
    assert any(check in name for name in faults), faults


def test_a_broken_contract_is_refused_and_every_breach_named(senses: LocalSenses) -> None:
    with pytest.raises(WeighbeamError, match=r"contract_broken.*only for eligible"):
        check_mechanism(Generous(), senses)
