"""Evidence: how fast and how right the small model is, where a round's time goes, and matching on the largest page."""

import json
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.evidence_match import measure_hostile_matches
from benchmarks.evidence_worst import measure_worst
from benchmarks.measure import Line, show_lines
from weighbeam.mechanism.params import make_params
from weighbeam.mechanism.records import Answer, Asked, Group, Task
from weighbeam.mechanisms.evidence.excerpt.match import match_excerpt
from weighbeam.mechanisms.evidence.excerpt.page_tokens import tokenise
from weighbeam.mechanisms.evidence.mechanism import Evidence
from weighbeam.mechanisms.evidence.miners.library import open_library
from weighbeam.mechanisms.evidence.task import BANK_SUFFIXES, find_archive, load_bank
from weighbeam.senses.local import LocalSenses

LABELLED = Path(__file__).parents[1] / "tests/mechanisms/evidence/labelled_snippets.jsonl"
CLASSES = ("contradiction", "neutral", "entailment")
MINERS, SNIPPETS, CHARACTERS, SEED = 5, 5, 1_000_000, 7
WANTED = {"supported": "supports", "refuted": "refutes", "undecidable": "insufficient"}
EVIDENCE = Evidence()


def measure_evidence() -> Iterator[Line]:
    senses = open_archive()
    yield from _measure_model(senses)
    yield from _measure_verdicts(senses)
    yield from _measure_round(senses)
    yield from _measure_match()
    yield from measure_hostile_matches()
    yield from measure_worst(senses)


def open_archive() -> LocalSenses:
    """Senses that read the sample pages."""
    archive = find_archive()
    return LocalSenses(
        remember=False, workers=1, pages=f"archive:{archive}", lists=archive / "lists", extra_suffixes=BANK_SUFFIXES
    )


def _measure_model(senses: LocalSenses) -> Iterator[Line]:
    statements = {row["id"]: row["statement"] for row in load_bank()}
    rows = [row for row in map(json.loads, LABELLED.read_text("utf-8").splitlines()) if "attack" not in row]
    pairs = [(row["excerpt"], statements[row["statement_id"]]) for row in rows]
    senses.entailment.inner.judge(pairs[:2])
    start = time.process_time()
    judged = senses.entailment.inner.judge(pairs)
    spent = time.process_time() - start
    right = sum(CLASSES[int(row.argmax())] == wanted["stance"] for row, wanted in zip(judged, rows, strict=True))
    shown = (
        f"{len(pairs) / spent:.0f} pairs per CPU second, {right / len(rows):.1%} of {len(rows)} labelled pairs right"
    )
    yield Line("nli-minilm on passages of 8 to 40 words", shown, "reported", True)


def _measure_verdicts(senses: LocalSenses) -> Iterator[Line]:
    """Five honest readers of the sample pages answer to each labelled statement of the bank."""
    params, called = make_params(EVIDENCE), Counter[tuple[str, str]]()
    for row in load_bank():
        observation = EVIDENCE.observe(params, make_reading_round(row["statement"]), senses)
        verdict = EVIDENCE.score(params, observation).summary["verdict"]["verdict"]
        called[WANTED[row["expect"]], verdict] += 1
    right = sum(count for (wanted, verdict), count in called.items() if wanted == verdict)
    shown = f"{right} of {called.total()} right, {called['supports', 'refutes']} true ones called refuted"
    yield Line(
        "verdicts on labelled statements", shown, "≥ 60, ≤ 2", right >= 60 and called["supports", "refutes"] <= 2
    )


def make_reading_round(statement: str) -> Asked:
    library = open_library(find_archive())
    quotes = [library.choose(statement, SNIPPETS, reader, MINERS) for reader in range(MINERS)]
    answers = tuple(
        Answer(f"reader-{i}", {"snippets": [{"url": one.url, "excerpt": one.text} for one in some]}, 5.0)
        for i, some in enumerate(quotes)
    )
    return Asked(Task("t", {"statement": statement}), Group(tuple(a.hotkey for a in answers)), answers, "bench")


class Timed:
    """The senses of a round, with the CPU seconds of each."""

    def __init__(self, senses: LocalSenses) -> None:
        self._senses = senses
        self.spent: Counter[str] = Counter()
        self.assessor = self.second_pages = None
        self.clock, self.doubts = senses.clock, senses.doubts
        self.rulebook, self.sentiment, self.ages = senses.rulebook, senses.sentiment, senses.ages
        self.embedder, self.entailment, self.pages = (
            _Clocked(name, inner, self.spent)
            for name, inner in (
                ("embedding", senses.embedder.inner),
                ("entailment", senses.entailment.inner),
                ("pages", senses.pages),
            )
        )


class _Clocked:
    def __init__(self, name: str, inner: Any, spent: Counter[str]) -> None:
        self._name, self._inner, self._spent = name, inner, spent
        self.id, self.digest = inner.id, inner.digest
        self.dimensions = getattr(inner, "dimensions", 0)

    def _run(self, verb: str, given: Sequence[Any]) -> Any:
        start = time.perf_counter()
        found = getattr(self._inner, verb)(given)
        self._spent[self._name] += time.perf_counter() - start
        return found

    def embed(self, texts: Sequence[str]) -> Any:
        return self._run("embed", texts)

    def judge(self, pairs: Sequence[tuple[str, str]]) -> Any:
        return self._run("judge", pairs)

    def read_all(self, urls: Sequence[str]) -> Any:
        return self._run("read_all", urls)


def make_quoting_round() -> Asked:
    """Every miner quotes five pages of its own."""
    rows = [row for row in map(json.loads, LABELLED.read_text("utf-8").splitlines()) if "attack" not in row]
    random.Random(SEED).shuffle(rows)
    quotes = [{"url": row["url"], "excerpt": row["excerpt"]} for row in rows]
    answers = tuple(Answer(f"miner-{i}", {"snippets": quotes[i * 5 : i * 5 + 5]}, 1.0) for i in range(MINERS))
    statement = next(row["statement"] for row in load_bank() if row["id"] == rows[0]["statement_id"])
    return Asked(Task("t", {"statement": statement}), Group(tuple(a.hotkey for a in answers)), answers, "bench")


def _measure_round(senses: LocalSenses) -> Iterator[Line]:
    asked = make_quoting_round()
    params, timed = make_params(EVIDENCE), Timed(senses)
    start = time.perf_counter()
    observation = EVIDENCE.observe(params, asked, timed)
    EVIDENCE.score(params, observation)
    whole = time.perf_counter() - start
    parts = {**timed.spent, "all else": whole - sum(timed.spent.values())}
    shown = ", ".join(f"{name} {share / whole:.0%}" for name, share in sorted(parts.items(), key=lambda one: -one[1]))
    what = f"{MINERS} miners × 5 snippets from an archive, end to end"
    yield Line(what, f"{whole:.2f} s ({shown})", "reported", True)


def _measure_match() -> Iterator[Line]:
    rng = random.Random(SEED)
    words = [f"{rng.choice('bcdfgh')}{rng.choice('aeiou')}{rng.choice('lmnrst')}{number:x}" for number in range(4000)]
    text = ""
    pieces: list[str] = []
    size = 0
    while size < CHARACTERS - 20:
        pieces.append(words[min(3999, int(rng.paretovariate(1.0)) - 1)])
        size += len(pieces[-1]) + 1
    text = " ".join(pieces)
    start = time.process_time()
    page = tokenise(text)
    tokenised = time.process_time() - start
    excerpt = " ".join(pieces[-60:])
    best = min(_spend(excerpt, page) for _ in range(3))
    shown = f"{best * 1e3:.0f} ms, tokenised in {tokenised:.1f} s"
    yield Line("an excerpt of 60 words on a page of 1,000,000 characters", shown, "≤ 200 ms", best <= 0.2)


def _spend(excerpt: str, page: Any) -> float:
    start = time.process_time()
    assert match_excerpt(excerpt, page).found
    return time.process_time() - start


if __name__ == "__main__":
    show_lines(measure_evidence())
