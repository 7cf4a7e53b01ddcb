"""Who takes part in the demo, and under which keys."""

from dataclasses import dataclass
from typing import Literal

from weighbeam.network.keys import Hotkey

TAO = 10**9


@dataclass(frozen=True, slots=True)
class Part:
    """One neuron: a validator with stake, or a miner with an address and a way to answer."""

    name: str
    role: Literal["validator", "honest", "hostile"]
    about: str
    stake: int = 0

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
MINERS = (
    Part("climb", "honest", "climbs metric"),
    Part("paragraphs", "honest", "by paragraph"),
    Part("sentences", "honest", "by sentence"),
    Part("semchunk", "honest", "package chunker"),
    Part("semantic-text-splitter", "honest", "package chunker"),
    Part("oversized", "hostile", "one giant chunk"),
    Part("splitter", "hostile", "too many chunks"),
    Part("slow", "hostile", "late answers"),
    Part("dropper", "hostile", "drops a word"),
    Part("inventor", "hostile", "adds words"),
    Part("shuffler", "hostile", "reverses order"),
    Part("silent", "hostile", "never answers"),
    Part("garbage", "hostile", "wrong shape"),
    Part("noise", "hostile", "random bytes"),
    Part("replayer", "hostile", "an old reply"),
)
