"""Metrics of a round (spec § 14): counted from its record alone, and never an input of scores."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from weighbeam.core.numbers import is_number
from weighbeam.mechanism.records import Measure, Score
from weighbeam.mechanisms.evidence.judge.duplicates import COPIED, CopyVerdict
from weighbeam.mechanisms.evidence.judge.opinions import UNASSESSED
from weighbeam.mechanisms.evidence.judge.snippet import SnippetVerdict

Facts = Mapping[str, Any]

MEASURES: Mapping[str, Measure] = {
    "snippets": Measure("counter", "snippets judged, by reason; accepted is one", ("reason",)),
    "domain_snippets": Measure("counter", "snippets judged, by registered domain", ("domain",)),
    "domain_accepted": Measure("counter", "snippets accepted, by registered domain", ("domain",)),
    "miner_snippets": Measure("counter", "snippets judged, by miner", ("hotkey",)),
    "miner_accepted": Measure("counter", "snippets accepted, by miner", ("hotkey",)),
    "answers": Measure("counter", "answers, by status; unscored is the validator's fault", ("status",)),
    "assessments": Measure("counter", "opinions of the assessor, by whether there was one", ("result",)),
    "reads": Measure("counter", "pages read, by outcome", ("outcome",)),
    "faults": Measure("counter", "rounds in which a part of the validator failed, by part", ("part",)),
    "list_age_seconds": Measure("gauge", "time since the list in force took effect", ("list",)),
}


def list_metrics(
    facts: Facts, verdicts: Sequence[tuple[Facts, Sequence[SnippetVerdict], CopyVerdict]], scores: Iterable[Score]
) -> list[list[Any]]:
    """Rows of name, label values and number, sorted: the order of answers makes no difference."""
    counts: Counter[tuple[str, str]] = Counter(("answers", score.status) for score in scores)
    for miner, judged, copied in verdicts:
        for verdict, source in zip(judged, copied.sources, strict=True):
            counts.update(_count_snippet(miner["hotkey"], verdict, verdict.reason if source is None else COPIED))
    snippets = [snippet for miner, *_ in verdicts for snippet in miner["snippets"]]
    counts.update(("reads", outcome) for _, outcome in {_name_read(one) for one in snippets if _was_read(one)})
    counts.update(("assessments", _name_assessment(one)) for one in snippets if "assessment" in one)
    counts.update(("faults", part) for part in {fault.partition(":")[0] for fault in facts["faults"]})
    rows = [[name, [label], count] for (name, label), count in sorted(counts.items())]
    return rows + [["list_age_seconds", [name], age] for name, age in sorted(_find_ages(facts).items())]


def _count_snippet(hotkey: str, verdict: SnippetVerdict, reason: str | None) -> Iterable[tuple[str, str]]:
    yield "snippets", reason or "accepted"
    for name, label in (("domain", verdict.domain), ("miner", hotkey)):
        if label is not None:
            yield f"{name}_snippets", label
            if verdict.accepted:
                yield f"{name}_accepted", label


def _was_read(snippet: Facts) -> bool:
    return bool(snippet.get("page", {}).get("hops"))


def _name_read(snippet: Facts) -> tuple[str, str]:
    page = snippet["page"]
    return page["hops"][0]["url"], page["outcome"]


def _name_assessment(snippet: Facts) -> str:
    return UNASSESSED if snippet["assessment"].get("status") == UNASSESSED else "assessed"


def _find_ages(facts: Facts) -> dict[str, float]:
    """Of the lists that say since when they are to be used."""
    at, ages = facts["task"].get("at"), dict[str, float]()
    for name, listing in facts.get("lists", {}).items():
        effective = listing.get("effective")
        if is_number(at) and is_number(effective):
            ages[name] = round(at - effective, 3)
    return ages
