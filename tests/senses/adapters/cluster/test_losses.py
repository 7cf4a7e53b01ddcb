"""Whatever of a cluster is lost, nothing of the work is: workers, brokers, nodes, all of it."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engine.small_subnet import ALICE, CHUNKING, PARAMS, list_faults, list_rounds, open_store, serve_miners
from lab.lab_fakes import ATTACKS, play_fake
from senses.adapters.cluster.nodes import find_broker, need_ray
from senses.adapters.cluster.trades import Obedience, play_late
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.recall import select_round
from weighbeam.engine.rounds.context import RoundContext, RoundStart
from weighbeam.engine.rounds.round import run_round
from weighbeam.lab.simulate.season import Season
from weighbeam.lab.trials.bench import run_bench
from weighbeam.lab.trials.processes import Processes
from weighbeam.lab.trials.ray_tasks import RayTasks
from weighbeam.mechanism.records import Asked, Task
from weighbeam.mechanisms.chunking.documents import generate_document
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.network.ask import Asker, AskSettings
from weighbeam.network.endpoints import Endpoint
from weighbeam.senses.adapters.cluster.client import Cluster
from weighbeam.senses.adapters.cluster.messages import WorkerBounds
from weighbeam.senses.adapters.cluster.senses import FallbackSense, LateParts
from weighbeam.senses.adapters.cluster.settings import ClusterSettings
from weighbeam.senses.local import LocalSenses

need_ray()
pytestmark = pytest.mark.alone

HERE = -1


def obey(cluster: Cluster, **terms) -> FallbackSense:
    """Work whose result tells in which process it was done; `HERE` if in this."""
    spec = Obedience(**terms)
    return FallbackSense(cluster, spec, Obedience().open(), lambda items: [HERE] * len(items))


def wait_for(reached: Callable[[], bool], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def in_thread(work: Callable[[], object]) -> Callable[[], object]:
    """Begin it; the function given back waits for its result."""
    made: list[object] = []
    thread = threading.Thread(target=lambda: made.append(work()), daemon=True)
    thread.start()

    def wait() -> object:
        thread.join(60)
        assert made, "it did not end"
        return made[0]

    return wait


def test_workers_that_die_or_hang_cost_nothing_and_poison_is_told(join, tmp_path) -> None:
    work = obey(join(min_workers=2), part_seconds=2.0)
    work.check()
    (pid,) = work.do(["sleep 0"])
    assert pid != HERE
    before = {*work.do(["sleep 0.2"] * 8)}
    assert len(before) == 2, "both nodes work"
    running = in_thread(lambda: work.do(["sleep 0.2"] * 12))
    time.sleep(0.3)
    os.kill(before.pop(), signal.SIGKILL)
    done = running()
    assert len(done) == 12
    assert HERE not in done
    assert work.do([f"hang {tmp_path / 'once'}"]) != [HERE]
    others = in_thread(lambda: work.do(["sleep 0.1"] * 20))
    with pytest.raises(WeighbeamError) as fault:
        work.do(["die"])
    assert fault.value.code == "worker_lost"
    assert HERE not in others()
    assert work.do(["swell"]) == [HERE], "what is too large for the pipe is done here"
    with pytest.raises(WeighbeamError, match=r"bad_text: it is refused \(write another\)"):
        work.do(["refuse"])


def test_a_worker_that_is_another_is_an_error_at_the_start_and_never_used(join, nodes) -> None:
    cluster = join()
    told: list[str] = []
    cluster.watch.on_fault = lambda fault: told.append(fault.code)
    other = obey(cluster, digest="another")
    with pytest.raises(WeighbeamError, match=r"worker_differs: on .* the sense's digest is 'another', here 'the one'"):
        other.check()
    cluster.settings = ClusterSettings(nodes.address, WorkerBounds(), 1.0)
    assert other.do(["sleep 0"]) == [HERE]
    wait_for(lambda: sorted(told) == ["cluster_lost", "worker_differs"])


def test_brokers_come_and_go_and_leave_nothing_behind(join, nodes) -> None:
    cluster = join(patience_seconds=30.0)
    told: list[str] = []
    cluster.watch.on_fault = lambda fault: told.append(fault.code)
    cluster.watch.on_over = lambda code: told.append(f"{code} is over")
    work = obey(cluster)
    work.check()
    running = in_thread(lambda: work.do(["sleep 0.3"] * 6))
    time.sleep(0.5)
    first = find_broker(cluster)
    os.kill(first, signal.SIGKILL)
    assert HERE not in running()
    assert find_broker(cluster) != first
    assert told == []
    cluster.settings = ClusterSettings(nodes.address, WorkerBounds(), 1.0)
    os.kill(find_broker(cluster), signal.SIGSTOP)
    assert work.do(["sleep 0"]) == [HERE], "it hangs, so this machine does it"
    begun = time.monotonic()
    assert work.do(["sleep 0"]) == [HERE]
    assert time.monotonic() - begun < 0.5, "and waits for it once"
    assert told == ["cluster_lost"]
    os.kill(find_broker(cluster), signal.SIGCONT)
    wait_for(lambda: told == ["cluster_lost", "cluster_lost is over"])
    (worker,) = work.do(["sleep 0"])
    assert worker != HERE
    last = find_broker(cluster)
    cluster.close()
    assert not is_alive(last)
    wait_for(lambda: not is_alive(worker))


class Noting(Chunking):
    """Notes what it was asked to observe."""

    asked: Asked | None = None

    def observe(self, params, asked, senses):
        self.asked = asked
        return super().observe(params, asked, senses)


def play_round(folder, senses: LocalSenses, miners: LocalSenses, while_observed: Callable[[], None]):
    """A round of the engine; `while_observed` happens beside it."""
    store = open_store(folder)
    asker = Asker(ALICE, AskSettings(allow_private=True, per_address=64))
    mechanism = Noting()
    context = RoundContext(mechanism, PARAMS, Journal(store), asker, senses)
    task = Task("task", {"document": generate_document("nodes", 12_000).text, "chunk_size": 600})
    with serve_miners(folder, miners) as served:
        endpoints = {hotkey: Endpoint(where, "btauth/1", "chain") for hotkey, where in served.items()}
        uids = {hotkey: uid for uid, hotkey in enumerate(served)}
        moment = RoundStart("round", "seed", 1, time.time(), uids, endpoints)
        meanwhile = in_thread(while_observed)
        asyncio.run(run_round(context, task, moment, list(served)))
        meanwhile()
    assert list_rounds(store) == ["round"]
    assert list_faults(store) == []
    return mechanism.asked, select_round(store, "round", CHUNKING)


def test_a_validator_that_is_killed_leaves_nothing_behind(nodes) -> None:
    child = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("one_call.py"), nodes.address],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": nodes.paths},
        text=True,
    )
    broker, worker = map(int, child.stdout.readline().split())
    assert is_alive(broker)
    assert is_alive(worker)
    child.kill()
    child.wait()
    wait_for(lambda: not is_alive(broker) and not is_alive(worker))


def test_workers_come_and_go_with_the_work_and_what_is_too_late_is_told_as_late(join) -> None:
    cluster = join(min_workers=1, max_workers=2, idle_seconds=0.5)
    spec = Obedience()
    late = LateParts(1.0, lambda item: f"late: {item}")
    work = FallbackSense(cluster, spec, spec.open(), lambda items: [HERE] * len(items), late)
    work.check()
    done = work.do(["sleep 0", "sleep 2", "sleep 2", "sleep 2", "sleep 2"])
    assert done[0] > 0
    assert done[1:] == ["late: sleep 2"] * 4
    assert not cluster.watch.is_lost(work.terms.key)
    assert len({*obey(cluster).do(["sleep 0.2"] * 20)}) == 2
    wait_for(lambda: cluster.count_workers(work.terms.key).ready == 1)


def test_a_sweep_goes_on_without_a_node(nodes) -> None:
    here = run_bench(ATTACKS, range(3), Season(rounds=8), spread=Processes(1), play=play_fake)
    gone: list[int] = []

    def lose_one(done: int, of: int) -> None:
        if not gone:
            gone.append(1)
            nodes.kill(1)

    there = run_bench(
        ATTACKS, range(3), Season(rounds=8), spread=RayTasks(nodes.address), play=play_late, on_done=lose_one
    )
    assert gone
    assert there.outcomes == here.outcomes
    nodes.add()


def test_a_node_and_then_all_of_them_are_lost_in_rounds_that_end_as_they_would_have(
    join, nodes, senses, cache, tmp_path
) -> None:
    cluster = join(min_workers=2)
    told: list[str] = []
    cluster.watch.on_fault = lambda fault: told.append(fault.code)
    spread = LocalSenses(cache=cache, remember=False, workers=1, cluster=cluster)
    own = LocalSenses(cache=cache, remember=False, workers=1)
    terms = spread.embedder.inner.steady.terms
    cluster.find_ready(terms)
    wait_for(lambda: cluster.count_workers(terms.key).ready == 2)

    def kill(which: int | str) -> Callable[[], None]:
        def act() -> None:
            # The broker reports busy workers every other second only, and a round may be over by then.
            wait_for(lambda: cluster._bytes > 0)
            nodes.kill(which)

        return act

    for which in (0, "all"):
        folder = tmp_path / str(which)
        folder.mkdir()
        spread.embedder._memory.clear()
        asked, kept = play_round(folder, spread, senses, kill(which))
        again = CHUNKING.observe(PARAMS, asked, own)
        assert again.facts == kept.observation.facts
        assert CHUNKING.score(PARAMS, again) == kept.scored
        assert told == [] or which == "all"
        cluster.settings = ClusterSettings(nodes.address, WorkerBounds(2, 2), 2.0)
    texts = ["after all", "was lost"]
    assert np.array_equal(spread.embedder.embed(texts), senses.embedder.embed(texts))
    assert told == ["cluster_lost"]
