"""Who takes part in the demo, under which keys, and what each one does in each mechanism."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from weighbeam.network.keys import Hotkey

TAO = 10**9
MINER_STAKE = 100 * TAO
ASKED = ("chunking", "inference", "evidence")
MECHANISMS = (*ASKED, "novelty")


@dataclass(frozen=True, slots=True)
class Act:
    """What a miner does in one mechanism: `answers` as its settings say it, or how it contributes; `caught` if it must
    earn less than anyone honest."""

    name: str
    answers: str
    about: str
    caught: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """One neuron: a validator with stake, or a miner with an address and an act in each mechanism."""

    name: str
    role: Literal["validator", "honest", "hostile"]
    about: str
    stake: int
    acts: Mapping[str, Act] = field(default_factory=dict)

    @property
    def uri(self) -> str:
        return f"//weighbeam//demo//{self.name}"

    @property
    def hotkey(self) -> Hotkey:
        return Hotkey.from_uri(self.uri)


VALIDATORS = (
    Part("validator-1", "validator", "3,000 TAO", 3000 * TAO),
    Part("validator-2", "validator", "1,500 TAO", 1500 * TAO),
)
HONEST = (
    (
        Act("climb", "climb", "climbs metric"),
        Act("voice-1", "prepared:0", "answers"),
        Act("reader-1", "archive#0/5", "quotes pages"),
        Act("writer-1", "lines:0/5", "says new things"),
    ),
    (
        Act("paragraphs", "paragraphs", "by paragraph"),
        Act("voice-2", "prepared:1", "answers"),
        Act("reader-2", "archive#1/5", "quotes pages"),
        Act("writer-2", "lines:1/5", "says new things"),
    ),
    (
        Act("sentences", "sentences", "by sentence"),
        Act("voice-3", "prepared:2", "answers"),
        Act("reader-3", "archive#2/5", "quotes pages"),
        Act("writer-3", "lines:2/5", "says new things"),
    ),
    (
        Act("semchunk", "semchunk", "by package"),
        Act("voice-4", "prepared:3", "answers"),
        Act("reader-4", "archive#3/5", "quotes pages"),
        Act("writer-4", "lines:3/5", "says new things"),
    ),
    (
        Act("text-splitter", "semantic-text-splitter", "by package"),
        Act("voice-5", "prepared:4", "answers"),
        Act("reader-5", "archive#4/5", "quotes pages"),
        Act("writer-5", "lines:4/5", "says new things"),
    ),
)
HOSTILE = (
    (
        Act("oversized", "hostile:oversized", "a giant chunk"),
        Act("giant", "hostile:giant", "60 times over", caught=True),
        Act("invalid", "hostile:invalid", "wrong shape", caught=True),
        Act("copycat", "hostile:copycat", "repeats", caught=True),
    ),
    (
        Act("splitter", "hostile:splitter", "tiny chunks"),
        Act("stuffing", "hostile:stuffing", "only keywords", caught=True),
        Act("searcher", "hostile:search-url", "quotes a search", caught=True),
        Act("shouter", "hostile:shouter", "in capitals", caught=True),
    ),
    (
        Act("slow", "hostile:slow", "late answers"),
        Act("overconfident", "hostile:overconfident", "sure, 1 line"),
        Act("newborn", "hostile:newborn", "a new domain", caught=True),
        Act("spacer", "hostile:spacer", "hidden blanks", caught=True),
    ),
    (
        Act("dropper", "hostile:dropper", "drops a word", caught=True),
        Act("copycat", "hostile:copycat", "copies voice-1"),
        Act("copier", "hostile:copycat", "copies reader-1"),
        Act("rewording", "hostile:rewording", "in other words", caught=True),
    ),
    (
        Act("inventor", "hostile:inventor", "adds words", caught=True),
        Act("contradictor", "hostile:contradictor", "lies fluently"),
        Act("forger", "hostile:forger", "drops a not", caught=True),
        Act("halver", "hostile:halver", "two thirds of it", caught=True),
    ),
    (
        Act("shuffler", "hostile:shuffler", "reverses order", caught=True),
        Act("echo", "hostile:echo", "repeats prompt", caught=True),
        Act("parrot", "hostile:parrot", "says the same", caught=True),
        Act("prefixer", "hostile:prefixer", "adds 3 words", caught=True),
    ),
    (
        Act("silent", "hostile:silent", "never answers", caught=True),
        Act("instant", "hostile:instant-garbage", "fast and empty", caught=True),
        Act("empty", "hostile:empty", "no quotes", caught=True),
        Act("homoglyphs", "hostile:homoglyphs", "foreign letters", caught=True),
    ),
    (
        Act("garbage", "hostile:garbage", "wrong shape", caught=True),
        Act("garbage-1", "hostile:garbage-1", "empty phrases", caught=True),
        Act("insecure", "hostile:insecure", "plain http", caught=True),
        Act("masher", "hostile:masher", "random letters", caught=True),
    ),
    (
        Act("noise", "hostile:noise", "random bytes", caught=True),
        Act("garbage-2", "hostile:garbage-2", "empty phrases", caught=True),
        Act("seller", "hostile:blacklisted", "blacklisted", caught=True),
        Act("salad", "hostile:salad", "words, no sense", caught=True),
    ),
    (
        Act("replayer", "hostile:replayer", "an old reply"),
        Act("garbage-3", "hostile:garbage-3", "empty phrases", caught=True),
        Act("fabulist", "hostile:inventor", "invents quotes", caught=True),
        Act("repeater", "hostile:repeater", "one phrase", caught=True),
    ),
)


def _hire(role: Literal["honest", "hostile"], acts: tuple[Act, ...]) -> Part:
    """A miner goes by the name of its first act."""
    about = ", ".join(f"{name}: {act.about}" for name, act in zip(MECHANISMS, acts, strict=True))
    return Part(acts[0].name, role, about, MINER_STAKE, dict(zip(MECHANISMS, acts, strict=True)))


MINERS = (*(_hire("honest", acts) for acts in HONEST), *(_hire("hostile", acts) for acts in HOSTILE))
