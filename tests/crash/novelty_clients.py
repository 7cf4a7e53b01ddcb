"""Clients of a server that is shot: each repeats a call with its key until it is answered, as a careful client does."""

import random
import threading
from dataclasses import dataclass, field
from typing import Any

import httpx2

from service.holders import bear

WORDS = """otter river bridge winter bread yeast lantern harbour violin glacier orchard copper thunder meadow compass
saddle teapot feather granite monsoon pepper library anchor walnut comet ferry basil quarry sparrow velvet""".split()
COMMON = "the of and is in that a with by for on was from are this it".split()


def open_line(url: str) -> httpx2.Client:
    """Plain HTTP needs no certificates, and reading them takes longer than many a life lasts."""
    return httpx2.Client(base_url=f"{url}/v1/novelty", headers=bear("app"), timeout=30, verify=False, trust_env=False)


@dataclass(frozen=True)
class Intent:
    """One call to be made: submit a text, or settle what is held."""

    key: str
    contributor: str
    text: str


@dataclass
class Client:
    """One caller; what is unanswered is asked again in the next life."""

    name: str
    dice: random.Random
    made: int = 0
    open: Intent | None = None
    receipts: dict[str, dict[str, Any]] = field(default_factory=dict)
    intents: dict[str, Intent] = field(default_factory=dict)
    settled: dict[int, dict[str, Any]] = field(default_factory=dict)
    repeated: int = 0
    faults: list[str] = field(default_factory=list)

    def live(self, url: str, stop: threading.Event) -> None:
        with open_line(url) as line:
            try:
                while not stop.is_set():
                    self.call(line)
            except httpx2.HTTPError:
                return

    def finish(self, line: httpx2.Client) -> None:
        """What was never answered, in a life that lasts."""
        if self.open is not None:
            self.call(line)

    def call(self, line: httpx2.Client) -> None:
        self.open = self.open or self._think()
        intent = self.open
        self.intents[intent.key] = intent
        given = {"contributor": intent.contributor, "text": intent.text, "key": intent.key}
        reply = line.post("/contributions", json=given)
        if reply.status_code not in (200, 201):
            self.faults.append(f"{self.name}: {reply.status_code} {reply.text}")
            raise httpx2.ReadError("refused")
        receipt = reply.json()
        self.repeated += reply.status_code == 200
        self.receipts[intent.key], self.open = receipt, None
        if receipt["status"] == "held":
            verb = ("release", "reject")[receipt["id"] % 2]
            self.settled[receipt["id"]] = line.post(f"/contributions/{receipt['id']}/{verb}").json()

    def _think(self) -> Intent:
        """Mostly new, sometimes what another client says too, sometimes gibberish."""
        self.made += 1
        key, chance = f"{self.name}-{self.made}", self.dice.random()
        contributor = f"user-{self.dice.randrange(5)}"
        if chance < 0.3:
            return Intent(key, contributor, f"What everybody has heard and says again: number {self.made // 2}.")
        if chance < 0.4:
            return Intent(key, contributor, " ".join(self._noise() for _ in range(9)))
        words = [self.dice.choice(WORDS if i % 2 else COMMON) for i in range(14)]
        return Intent(key, contributor, f"{' '.join(words)} {self.name} {self.made}.")

    def _noise(self) -> str:
        return "".join(self.dice.choice("0123456789#%&") for _ in range(6))
