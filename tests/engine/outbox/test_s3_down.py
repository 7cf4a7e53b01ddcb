"""An S3 store that is down, comes and goes, or never answers: rounds and weights go on, and no picture is lost."""

import asyncio
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from keyword_recall.mechanism import KeywordRecall

from engine.running.test_runtime import World, has_played, has_weighed, sound
from engine.running.test_runtime import world as world
from engine.small_subnet import hear_log
from postgres import on_sqlite
from store.s3_server import KEY, SECRET, find_port, serve_s3
from weighbeam.app.validator.checks import diagnose_settings
from weighbeam.charts.heatmap import Heatmap
from weighbeam.engine.outbox.deliver import deliver_due
from weighbeam.engine.outbox.queue import count_waiting
from weighbeam.engine.rounds.narrative import NarrativeJobs, name_heatmap, select_extras
from weighbeam.mechanism.records import Narrative
from weighbeam.store import tables
from weighbeam.store.artifacts import Artifacts, open_artifacts


class DrawnRecall(KeywordRecall):
    """Draws and tells every round."""

    def draw(self, params, observation, round_id) -> Heatmap:
        return Heatmap(round_id, (), ("a",), (1,), (False,), np.ones((1, 1)))

    def tell(self, params, observation, picture, narrator, nonce) -> Narrative:
        return Narrative(f"the picture is {picture}")


class Counted:
    """Artifacts that say what arrived, in order."""

    def __init__(self, kept: Artifacts) -> None:
        self._kept = kept
        self.arrived: list[str] = []

    def put(self, name: str, data: bytes, kind: str) -> str:
        place = self._kept.put(name, data, kind)
        self.arrived.append(name)
        return place

    def __getattr__(self, name: str) -> object:
        return getattr(self._kept, name)


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setattr("weighbeam.engine.outbox.deliver.POLL_SECONDS", 0.05)


@pytest.fixture
def buckets(tmp_path: Path) -> Path:
    (tmp_path / "s3" / "pictures").mkdir(parents=True)
    return tmp_path / "s3"


def name_place(port: int, bucket: str = "pictures") -> str:
    return f"s3://{bucket}/net-1?endpoint=http://127.0.0.1:{port}&allow_http=true"


def keep_pictures(world: World, place: str) -> Counted:
    """The first mechanism's rounds are drawn, and their pictures kept there."""
    runner, drawn = world.runners[0], DrawnRecall()
    world.runners = (replace(runner, round_context=replace(runner.round_context, mechanism=drawn)), *world.runners[1:])
    artifacts = Counted(open_artifacts(place))
    story = NarrativeJobs(
        world.runtime.store, world.runtime.clock, {drawn.name: drawn}, artifacts, lambda shown: shown.title.encode()
    )
    world.runtime = replace(world.runtime, deliveries={"story": story.tell, "take_away": story.take_away})
    return artifacts


def list_drawn(world: World) -> list[str]:
    with world.runtime.store.read() as connection:
        rows = connection.execute(tables.rounds.select().where(tables.rounds.c.mechanism == DrawnRecall.name))
        return sorted(row.id for row in rows if row.state == "scored")


def finish(world: World) -> None:
    """Deliver what a round left while everything stopped."""
    runtime, deadline = world.runtime, time.monotonic() + 30
    while count_waiting(runtime.store):
        assert time.monotonic() < deadline
        asyncio.run(deliver_due(runtime.store, runtime.clock, runtime.alerts, runtime.deliveries))


@on_sqlite
def test_pictures_wait_for_a_store_that_comes_and_goes_and_arrive_once(world: World, buckets: Path) -> None:
    port = find_port()
    artifacts = keep_pictures(world, name_place(port))
    with hear_log() as lines:
        world.run(lambda: has_played(world, 3) and has_weighed(world) and any("remedy: weighbeam" in x for x in lines))
    assert world.row(0)
    assert artifacts.arrived == []
    assert 3 <= count_waiting(world.runtime.store)["story"] == len(list_drawn(world))
    with serve_s3(buckets, port):
        world.run(lambda: len(artifacts.arrived) >= 2)
    more = len(list_drawn(world)) + 2
    world.run(lambda: len(list_drawn(world)) >= more)
    with serve_s3(buckets, port):
        world.run(lambda: not count_waiting(world.runtime.store))
        finish(world)
        drawn = list_drawn(world)
        assert sorted(artifacts.list("heatmaps")) == [name_heatmap(name) for name in drawn]
        assert [artifacts.get(name_heatmap(name)).decode() for name in drawn] == drawn
    assert len(artifacts.arrived) <= len(drawn) + 3, "what was under way at a stop may come again, in its own place"
    for name in drawn:
        extras = select_extras(world.runtime.store, name)
        assert extras["narrative"].value == f"the picture is {extras['heatmap'].value}"
        assert extras["heatmap"].fault is None
    assert sound(world)


@on_sqlite
def test_a_store_that_never_answers_holds_up_no_round_and_no_weights(world: World) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(16)
        artifacts = keep_pictures(world, name_place(silent.getsockname()[1]))
        world.run(lambda: has_played(world, 5) and has_weighed(world))
        assert artifacts.arrived == []
        assert count_waiting(world.runtime.store)["story"] == len(list_drawn(world)) >= 5
        with world.runtime.store.read() as connection:
            assert {row.tries for row in connection.execute(tables.outbox.select())} == {0}, "the first still hangs"
    assert sound(world)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("s3") / "buckets"
    (folder / "pictures").mkdir(parents=True)
    with serve_s3(folder) as found:
        yield int(found.rpartition(":")[2])


@pytest.mark.parametrize(
    ("bucket", "key", "told", "remedy"),
    [
        ("pictures", SECRET, "stores, returns and deletes a test file", ""),
        ("elsewhere", SECRET, "the bucket does not exist", "create it"),
        ("pictures", "wrong-and-private", "refused the credentials", "check the AWS_* keys"),
        ("pictures", "", "credentials for the S3 store are missing", "set AWS_ACCESS_KEY_ID"),
    ],
)
def test_a_doctor_tells_what_is_wrong_with_the_store(
    address: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bucket: str, key: str, told: str, remedy: str
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", key)
    file = tmp_path / "weighbeam.toml"
    file.write_text(f'[store]\nartifacts = "{name_place(address, bucket)}"\n[wallet]\nuri = "//Alice"\n')
    found = next(one for one in diagnose_settings(file, {}) if one.name == "artifacts")
    assert told in found.detail
    assert remedy in found.remedy
    assert (found.state == "ok") == (not remedy)
    assert "private" not in found.detail + found.remedy
    if not remedy:
        assert open_artifacts(name_place(address)).list() == ()
