"""The novelty desk: submissions per second, each durable before it is answered, by one client and by sixteen."""

import random
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.measure import Line, show_lines
from weighbeam.mechanisms.novelty.desk.desk import NoveltyDesk, open_desk
from weighbeam.mechanisms.novelty.lab.world import list_statements
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.network.keys import Hotkey
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

COUNT, CLIENTS, SEED = 320, 16, 11
WORDS = (
    "river lamp winter copper sailor garden letter engine cloud market bridge orange mirror winding stone harbour"
).split()


def measure_desk() -> Iterator[Line]:
    """Laps of one and of sixteen clients alternate; every text is new, of a sentence's length."""
    rng = random.Random(SEED)
    senses = LocalSenses(remember=False, workers=1)
    senses.embedder.embed(["warm"])
    rates: dict[int, list[float]] = {1: [], CLIENTS: []}
    known: dict[int, list[float]] = {1: [], CLIENTS: []}
    with tempfile.TemporaryDirectory() as folder:
        for lap in range(3):
            for clients, laps in rates.items():
                texts = [_write(rng) for _ in range(COUNT)]
                desk = _open(Path(folder) / f"{lap}-{clients}.db", senses)
                laps.append(COUNT / _submit(desk, texts, clients))
                prepared = [desk.prepare(f"user-{n}", _write(rng)) for n in range(COUNT)]
                known[clients].append(COUNT / _commit(desk, prepared, clients))
                desk.store.close()
    one, many = max(rates[1]), max(rates[CLIENTS])
    yield Line("Submissions with the embedder, 1 client", f"{one:.0f} a second", "reported", True)
    yield Line(
        f"The same, {CLIENTS} clients", f"{many:.0f} a second, {many / one:.2f}× one client", "≥ 1×", many >= one
    )
    one, many = max(known[1]), max(known[CLIENTS])
    yield Line("Searched, inserted, paid and on disk, vectors given, 1 client", f"{one:.0f} a second", "reported", True)
    yield Line(
        f"The same, {CLIENTS} clients share commits", f"{many:.0f} a second, {many / one:.2f}× one", "reported", True
    )
    yield from measure_second_look()


def measure_second_look() -> Iterator[Line]:
    """Sentences of the topic bank, each handed in at a desk of the default rule and at one of the seed's, in turns."""
    found = list_statements(LocalSenses(remember=False, workers=1))
    texts = random.Random(SEED).sample(found, min(COUNT, len(found)))
    presets = {name: NoveltyParams(**NoveltyParams.presets.get(name, {})) for name in ("seed", "default")}
    spent = dict.fromkeys(presets, 0.0)
    with tempfile.TemporaryDirectory() as folder:
        desks = {name: _open_warm(Path(folder) / f"{name}.db", params) for name, params in presets.items()}
        for number, text in enumerate(texts):
            for name in sorted(desks, reverse=bool(number % 2)):
                start = time.process_time()
                desks[name].submit(f"user-{number}", text)
                spent[name] += time.process_time() - start
        for desk in desks.values():
            desk.store.close()
    ratio = spent["default"] / spent["seed"]
    told = f"{ratio:.2f}× ({spent['seed'] / len(texts) * 1000:.1f} → {spent['default'] / len(texts) * 1000:.1f} ms)"
    yield Line("CPU of a submission with the second look, against the seed's rule", told, "≤ 1.5×", ratio <= 1.5)


def _open_warm(path: Path, params: NoveltyParams) -> NoveltyDesk:
    """With senses of its own, which remember nothing of the other desk's."""
    senses = LocalSenses(remember=False, workers=1)
    senses.embedder.embed(["warm"])
    senses.entailment.judge([("warm", "warm")])
    return _open(path, senses, params)


def _open(path: Path, senses: LocalSenses, params: NoveltyParams | None = None) -> NoveltyDesk:
    return open_desk(Store(f"sqlite:///{path}"), senses, Hotkey.from_uri("//Node", "ed25519"), params)


def _write(rng: random.Random) -> str:
    a, b, c, d = rng.sample(WORDS, 4)
    days, year = rng.randrange(10**6), rng.randrange(10**4)
    return f"The {a} of the {b} was {days} days older than the {c}, as the {d} had shown in {year}."


def _submit(desk: NoveltyDesk, texts: Sequence[str], clients: int) -> float:
    def work(own: Sequence[str], name: str) -> None:
        for text in own:
            desk.submit(name, text)

    return _run(work, texts, clients)


def _commit(desk: NoveltyDesk, prepared: Sequence[object], clients: int) -> float:
    def work(own: Sequence[object], _: str) -> None:
        for given in own:
            desk.hand_over(given)

    return _run(work, prepared, clients)


def _run(work: object, items: Sequence[object], clients: int) -> float:
    threads = [threading.Thread(target=work, args=(items[n::clients], f"user-{n}")) for n in range(clients)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - start


if __name__ == "__main__":
    show_lines(measure_desk())
