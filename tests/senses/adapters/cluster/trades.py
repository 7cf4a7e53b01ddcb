"""Senses for tests of the cluster: what they make of an item is what the item says."""

import json
import os
import ssl
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab.lab_fakes import play_fake
from senses.adapters.pages.tls_servers import Network
from weighbeam.core.errors import WeighbeamError
from weighbeam.lab.simulate.measure import Trial
from weighbeam.lab.trials.jobs import Job
from weighbeam.senses.adapters.cluster.pages import OpenedPages, PagesSpec
from weighbeam.senses.adapters.cluster.spec import WorkPart
from weighbeam.senses.adapters.pages.live import LivePages
from weighbeam.senses.adapters.pages.web.guard import ConnectionGuard

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class Obeying:
    """`sleep SECONDS`, `die`, `hang FILE` (the first time), `refuse`, `swell`: then, or else, its process number."""

    digest: str = "the one"

    def try_known(self) -> str:
        return "known"

    def do(self, items: Sequence[str]) -> bytes:
        for item in items:
            what, _, how = item.partition(" ")
            self._obey(what, how)
        if "swell" in items:
            return b" " * (65 << 20)
        return json.dumps([os.getpid()] * len(items)).encode()

    def _obey(self, what: str, how: str) -> None:
        if what == "sleep":
            time.sleep(float(how))
        elif what == "die":
            os._exit(1)
        elif what == "refuse":
            raise WeighbeamError("bad_text", "it is refused", "write another")
        elif what == "hang" and not Path(how).exists():
            Path(how).touch()
            time.sleep(60)


@dataclass(frozen=True)
class Obedience:
    """One item for a part."""

    name: str = "obeying"
    digest: str = "the one"
    at_once: int = 1
    part_seconds: float = 20.0

    def cut(self, items: Sequence[str]) -> list[WorkPart]:
        return [WorkPart((row,)) for row in range(len(items))]

    def open(self) -> Obeying:
        return Obeying(self.digest)

    def unpack(self, body: bytes, count: int) -> Iterable[int]:
        return json.loads(body)


@dataclass(frozen=True)
class LoopbackPages(PagesSpec):
    """The web, if all of it were on a port of this machine, under certificates of this authority."""

    port: int = 0
    authority: str = field(default="", repr=False)

    def open(self) -> OpenedPages:
        return OpenedPages(open_pages(self))


def play_late(job: Job) -> Trial:
    """A season that takes its time, so that something may happen meanwhile."""
    time.sleep(0.5)
    return play_fake(job)


def open_pages(spec: LoopbackPages) -> LivePages:
    network, context = Network(spec.port), ssl.create_default_context()
    context.load_verify_locations(cadata=spec.authority)
    return LivePages(spec.settings, ConnectionGuard(network.resolve, network.connect, context, frozenset({LOOPBACK})))
