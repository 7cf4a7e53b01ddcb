"""A mechanism without a model, paid by averaged emissions, and a way to play many of its rounds quickly."""

from dataclasses import replace

from keyword_recall.mechanism import KeywordRecall, RecallParams

from weighbeam.engine.journal.encoding import RoundFacts
from weighbeam.engine.journal.journal import Journal
from weighbeam.mechanism.params import hash_params
from weighbeam.mechanism.records import Answer, Asked, Group, Scored, Standing, Task, WeighRule

PARAMS = RecallParams()


class PaidRecall(KeywordRecall):
    """Its standing is the engine's average of what each round paid."""

    name = "paid-recall"
    rule = WeighRule(standing="emissions", gate="always", exclude_permits=False)

    def score(self, params, observation) -> Scored:
        scored = super().score(params, observation)
        paid = {score.hotkey: score.value for score in scored.scores if score.value is not None}
        return replace(scored, summary={**scored.summary, "emissions": paid})

    def stand(self, params, standings, scored) -> tuple[Standing, ...]:
        return ()


def find(name: str) -> KeywordRecall:
    return PaidRecall() if name == "paid-recall" else KeywordRecall()


def play(
    journal: Journal,
    mechanism: KeywordRecall,
    number: int,
    at: float,
    texts: dict[str, str | None],
    block: int | None = None,
) -> None:
    """One committed round in which each hotkey gave its text; None is silence."""
    answers = tuple(
        Answer(hotkey, None, status="timeout") if text is None else Answer(hotkey, {"text": text}, 0.1)
        for hotkey, text in texts.items()
    )
    asked = Asked(Task(f"t{number}", {"keywords": ["tide", "moon"]}), Group(tuple(texts)), answers, f"s{number}")
    observation = mechanism.observe(PARAMS, asked, None)
    params = PARAMS.model_dump(mode="json")
    digest = hash_params(mechanism, PARAMS, {})
    name = f"{mechanism.name}-{number}"
    journal.record(
        RoundFacts(name, mechanism.name, params, digest, f"s{number}", int(at // 12) if block is None else block, at),
        asked,
        observation,
    )
    journal.commit(name, mechanism)
