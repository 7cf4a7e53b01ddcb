"""The senses of one round: those of the machine, with lists that stay as they were when it began."""

from dataclasses import dataclass

from weighbeam.senses.ports import (
    Ages,
    Assessor,
    Clock,
    Doubts,
    Embedder,
    Entailment,
    Pages,
    Rulebook,
    Senses,
    Sentences,
    Sentiment,
    WordPieces,
)


@dataclass(frozen=True, slots=True)
class RoundSenses:
    """Everything but the lists is the machine's own."""

    machine: Senses
    rulebook: Rulebook

    @property
    def doubts(self) -> Doubts:
        return self.machine.doubts

    @property
    def clock(self) -> Clock:
        return self.machine.clock

    @property
    def second_pages(self) -> Pages | None:
        return self.machine.second_pages

    @property
    def embedder(self) -> Embedder:
        return self.machine.embedder

    @property
    def word_pieces(self) -> WordPieces:
        return self.machine.word_pieces

    @property
    def entailment(self) -> Entailment:
        return self.machine.entailment

    @property
    def pages(self) -> Pages:
        return self.machine.pages

    @property
    def ages(self) -> Ages:
        return self.machine.ages

    @property
    def sentiment(self) -> Sentiment:
        return self.machine.sentiment

    @property
    def assessor(self) -> Assessor | None:
        return self.machine.assessor

    def sentences(self, name: str) -> Sentences:
        return self.machine.sentences(name)
