"""The neurons of the demo, their keys, and their behaviour in each mechanism."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from weighbeam.engine.views.names import CastAct, CastMember
from weighbeam.network.keys import Hotkey

TAO = 10**9
MINER_STAKE = 100 * TAO
ASKED = ("chunking", "inference", "evidence")
MECHANISMS = (*ASKED, "novelty")

CLIMBS = (
    "climb keeps every rule, so it counts as honest. The lab lists what it does as the attack metric-climbing, its "
    "best paid: a higher score need not mean better chunks."
)
LIES = "contradictor lies well and is paid like an answer: inference judges quality and agreement, not truth."


@dataclass(frozen=True, slots=True)
class DemoAct:
    """The behaviour of a miner in one mechanism: `answers` as its settings say it, or how it contributes; `caught` if
    it must earn less than any honest miner; `note` is shown beside its pay where that needs a word."""

    name: str
    answers: str
    about: str
    caught: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class DemoNeuron:
    """One neuron: a validator with stake, a miner with an address and its acts by mechanism, or the owner.

    A guest is a miner of which nothing is claimed: a language model of the user's own.
    """

    name: str
    role: Literal["owner", "validator", "honest", "hostile", "guest"]
    about: str
    stake: int
    acts: Mapping[str, DemoAct] = field(default_factory=dict)

    @property
    def uri(self) -> str:
        return f"//weighbeam//demo//{self.name}"

    @property
    def hotkey(self) -> Hotkey:
        return Hotkey.from_uri(self.uri)


OWNER = DemoNeuron("owner", "owner", "takes what is burnt", 0)
VALIDATORS = (
    DemoNeuron("validator-1", "validator", "3,000 TAO", 3000 * TAO),
    DemoNeuron("validator-2", "validator", "1,500 TAO", 1500 * TAO),
)
HONEST = (
    (
        DemoAct("climb", "climb", "climbs metric", note=CLIMBS),
        DemoAct("voice-1", "prepared:0", "answers"),
        DemoAct("reader-1", "archive#0/5", "quotes pages"),
        DemoAct("writer-1", "lines:0/5", "says new things"),
    ),
    (
        DemoAct("paragraphs", "paragraphs", "by paragraph"),
        DemoAct("voice-2", "prepared:1", "answers"),
        DemoAct("reader-2", "archive#1/5", "quotes pages"),
        DemoAct("writer-2", "lines:1/5", "says new things"),
    ),
    (
        DemoAct("sentences", "sentences", "by sentence"),
        DemoAct("voice-3", "prepared:2", "answers"),
        DemoAct("reader-3", "archive#2/5", "quotes pages"),
        DemoAct("writer-3", "lines:2/5", "says new things"),
    ),
    (
        DemoAct("semchunk", "semchunk", "by package"),
        DemoAct("voice-4", "prepared:3", "answers"),
        DemoAct("reader-4", "archive#3/5", "quotes pages"),
        DemoAct("writer-4", "lines:3/5", "says new things"),
    ),
    (
        DemoAct("text-splitter", "semantic-text-splitter", "by package"),
        DemoAct("voice-5", "prepared:4", "answers"),
        DemoAct("reader-5", "archive#4/5", "quotes pages"),
        DemoAct("writer-5", "lines:4/5", "says new things"),
    ),
)
HOSTILE = (
    (
        DemoAct("oversized", "hostile:oversized", "a giant chunk"),
        DemoAct("giant", "hostile:giant", "60 times over", caught=True),
        DemoAct("invalid", "hostile:invalid", "wrong shape", caught=True),
        DemoAct("copycat", "hostile:copycat", "repeats", caught=True),
    ),
    (
        DemoAct("splitter", "hostile:splitter", "tiny chunks"),
        DemoAct("stuffing", "hostile:stuffing", "only keywords", caught=True),
        DemoAct("searcher", "hostile:search-url", "quotes a search", caught=True),
        DemoAct("shouter", "hostile:shouter", "in capitals", caught=True),
    ),
    (
        DemoAct("slow", "hostile:slow", "late answers"),
        DemoAct("overconfident", "hostile:overconfident", "sure of a line"),
        DemoAct("newborn", "hostile:newborn", "a new domain", caught=True),
        DemoAct("spacer", "hostile:spacer", "hidden blanks", caught=True),
    ),
    (
        DemoAct("dropper", "hostile:dropper", "drops a word", caught=True),
        DemoAct("copycat", "hostile:copycat", "copies voice-1"),
        DemoAct("copier", "hostile:copycat", "copies reader-1"),
        DemoAct("rewording", "hostile:rewording", "in other words", caught=True),
    ),
    (
        DemoAct("inventor", "hostile:inventor", "adds words", caught=True),
        DemoAct("contradictor", "hostile:contradictor", "lies fluently", note=LIES),
        DemoAct("forger", "hostile:forger", "drops a not", caught=True),
        DemoAct("halver", "hostile:halver", "two thirds of it", caught=True),
    ),
    (
        DemoAct("shuffler", "hostile:shuffler", "reverses order", caught=True),
        DemoAct("echo", "hostile:echo", "repeats prompt", caught=True),
        DemoAct("parrot", "hostile:parrot", "says the same", caught=True),
        DemoAct("prefixer", "hostile:prefixer", "adds 3 words", caught=True),
    ),
    (
        DemoAct("silent", "hostile:silent", "never answers", caught=True),
        DemoAct("instant", "hostile:instant-garbage", "fast and empty", caught=True),
        DemoAct("empty", "hostile:empty", "no quotes", caught=True),
        DemoAct("homoglyphs", "hostile:homoglyphs", "foreign letters", caught=True),
    ),
    (
        DemoAct("garbage", "hostile:garbage", "wrong shape", caught=True),
        DemoAct("garbage-1", "hostile:garbage-1", "empty phrases", caught=True),
        DemoAct("insecure", "hostile:insecure", "plain http", caught=True),
        DemoAct("masher", "hostile:masher", "random letters", caught=True),
    ),
    (
        DemoAct("noise", "hostile:noise", "random bytes", caught=True),
        DemoAct("garbage-2", "hostile:garbage-2", "empty phrases", caught=True),
        DemoAct("seller", "hostile:blacklisted", "blacklisted", caught=True),
        DemoAct("salad", "hostile:salad", "senseless words", caught=True),
    ),
    (
        DemoAct("replayer", "hostile:replayer", "an old reply"),
        DemoAct("garbage-3", "hostile:garbage-3", "empty phrases", caught=True),
        DemoAct("fabulist", "hostile:inventor", "invents quotes", caught=True),
        DemoAct("repeater", "hostile:repeater", "one phrase", caught=True),
    ),
)


def _make_miner(role: Literal["honest", "hostile"], acts: tuple[DemoAct, ...]) -> DemoNeuron:
    """A miner goes by the name of its first act."""
    about = ", ".join(f"{name}: {act.about}" for name, act in zip(MECHANISMS, acts, strict=True))
    return DemoNeuron(acts[0].name, role, about, MINER_STAKE, dict(zip(MECHANISMS, acts, strict=True)))


MINERS = (*(_make_miner("honest", acts) for acts in HONEST), *(_make_miner("hostile", acts) for acts in HOSTILE))


def describe_cast(neurons: Iterable[DemoNeuron]) -> dict[str, CastMember]:
    """The roles, honest or hostile, and the tricks: kept with the journal, for pages, tables and the API."""
    return {
        part.hotkey.address: CastMember(
            part.name, part.role, {name: CastAct(act.name, act.about) for name, act in part.acts.items()}
        )
        for part in neurons
    }


def list_miners(llm: str | None = None) -> tuple[DemoNeuron, ...]:
    """Everybody who answers, with a guest for `llm` (`openai:MODEL@URL`) if there is one."""
    if llm is None:
        return MINERS
    act = DemoAct("model", llm, "a model answers")
    return (*MINERS, DemoNeuron("language-model", "guest", f"inference: {act.about}", MINER_STAKE, {"inference": act}))
