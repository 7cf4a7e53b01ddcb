"""The picture and the narrative of a round: after it, from the journal, and never in the way of a score."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.small_subnet import HOUR, START, Turned
from postgres import on_sqlite
from senses.chat_server import say, serve_chat
from weighbeam.charts.drawing import draw_in_process
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.journal.encoding import RoundFacts
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.recall import recall_round
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.outbox import deliver
from weighbeam.engine.outbox.queue import OutboxItem
from weighbeam.engine.rounds.narrative import NarrativeJobs, select_extras
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.running.retention import clean_up
from weighbeam.mechanism.params import hash_params, make_params
from weighbeam.mechanism.records import Answer, Asked, Group, Task
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanisms.inference.miners.handlers import GARBAGE
from weighbeam.mechanisms.inference.miners.prepared_answers import find_answers, load_prompts
from weighbeam.senses.adapters.chat.clients import OpenAINarrator
from weighbeam.senses.local import LocalSenses
from weighbeam.store import tables
from weighbeam.store.artifacts import open_artifacts
from weighbeam.store.database import Store

INFERENCE = load_mechanism("inference")
PROMPT = sorted(load_prompts())[0]
TEXTS = {f"voice-{number}": text for number, text in enumerate(find_answers(PROMPT))} | {"bad": GARBAGE}


@pytest.fixture
def journal(store_url: str) -> Iterator[Journal]:
    store = Store(store_url)
    yield Journal(store)
    store.close()


def play(journal: Journal, senses: LocalSenses, name: str = "r1", at: float = START, texts=TEXTS, **params) -> None:
    made = make_params(INFERENCE, params)
    answers = tuple(Answer(hotkey, {"text": text}, 1.0) for hotkey, text in texts.items())
    asked = Asked(Task("t", {"prompt": PROMPT}), Group(tuple(texts)), answers, "seed")
    observation = INFERENCE.observe(made, asked, senses)
    digest = hash_params(INFERENCE, made, INFERENCE.name_senses(made, senses))
    facts = RoundFacts(name, "inference", made.model_dump(mode="json"), digest, "seed", int(at // 12), at)
    journal.record(facts, asked, observation)
    journal.commit(name, INFERENCE)


def tell(journal: Journal, folder: Path, clock: Turned | None = None, **more) -> int:
    clock = clock or Turned()
    story = NarrativeJobs(
        journal.store,
        clock,
        {"inference": INFERENCE},
        open_artifacts(str(folder)),
        more.pop("render", draw_in_process),
        **more,
    )
    deliveries = {"story": story.tell, "take_away": story.take_away, "alerts": skip, "copies": skip}
    return asyncio.run(deliver.deliver_due(journal.store, clock, Alerts(journal.store, clock.now), deliveries))


def name_score(journal: Journal, name: str) -> str:
    """A sentence that a model may say of this round."""
    score = recall_round(journal.store, name).report()["consensus_score"]
    return f"Five voices agreed, with a consensus score of {score:.3f}."


async def skip(_: OutboxItem) -> None:
    pass


def test_a_round_is_drawn_and_told_once(journal: Journal, senses: LocalSenses, tmp_path: Path) -> None:
    play(journal, senses)
    assert select_extras(journal.store, "r1") == {}
    assert tell(journal, tmp_path / "art") == 1
    extras = select_extras(journal.store, "r1")
    path = extras["heatmap"].value
    assert path == str(tmp_path / "art/heatmaps/r1.png")
    assert Path(path).read_bytes().startswith(b"\x89PNG")
    narrative = extras["narrative"]
    assert f"“{PROMPT[:60]}" in narrative.value
    assert narrative.value.endswith(f"The heatmap is {path}.")
    assert (narrative.maker, narrative.fault) == ("deterministic", None)
    assert tell(journal, tmp_path / "art") == 0
    assert recall_round(journal.store, "r1").report()["flagged"] == ["bad"]


@on_sqlite
def test_a_picture_that_fails_costs_only_the_picture_until_it_works(
    journal: Journal, senses: LocalSenses, tmp_path: Path
) -> None:
    play(journal, senses)
    place = tmp_path / "art"
    place.write_text("a file is in the way")
    clock = Turned()
    assert tell(journal, place, clock) == 1
    extras = select_extras(journal.store, "r1")
    assert extras["heatmap"].value is None
    assert extras["heatmap"].fault.startswith("artifact_fault")
    assert extras["narrative"].value.endswith("No heatmap was drawn.")
    assert [result.fault for result in replay(journal.store, load_mechanism) if result.fault] == []
    place.unlink()
    assert tell(journal, place, clock) == 0
    clock.at += 10
    assert tell(journal, place, clock) == 1
    extras = select_extras(journal.store, "r1")
    assert Path(extras["heatmap"].value).is_file()
    assert extras["narrative"].value.endswith(f"The heatmap is {extras['heatmap'].value}.")


@on_sqlite
@pytest.mark.parametrize("fault", [WeighbeamError("picture_fault", "it broke", ""), MemoryError(), ValueError("no")])
def test_whatever_drawing_does_the_round_is_told(journal: Journal, senses: LocalSenses, tmp_path: Path, fault) -> None:
    def break_down(_) -> bytes:
        raise fault

    play(journal, senses)
    tell(journal, tmp_path / "art", render=break_down)
    extras = select_extras(journal.store, "r1")
    assert extras["heatmap"].value is None
    assert extras["narrative"].value


def test_nothing_to_draw_is_no_failure(journal: Journal, senses: LocalSenses, tmp_path: Path) -> None:
    play(journal, senses, heatmap=False)
    tell(journal, tmp_path / "art")
    assert select_extras(journal.store, "r1")["heatmap"].fault == "nothing to draw"
    with journal.store.read() as connection:
        assert {row.state for row in connection.execute(tables.outbox.select())} == {"done"}


@on_sqlite
def test_a_void_round_is_told_and_drawn_too(journal: Journal, senses: LocalSenses, tmp_path: Path) -> None:
    play(journal, senses, texts={"a": TEXTS["voice-0"], "b": TEXTS["voice-1"]})
    tell(journal, tmp_path / "art")
    extras = select_extras(journal.store, "r1")
    assert "nothing was scored" in extras["narrative"].value
    assert extras["heatmap"].value is not None


@on_sqlite
def test_a_model_tells_and_falls_back(journal: Journal, senses: LocalSenses, tmp_path: Path) -> None:
    play(journal, senses, heatmap=False)
    play(journal, senses, "r2", heatmap=False)
    good, bad = name_score(journal, "r1"), "Miner 5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY won."
    with serve_chat(say(good), say(bad)) as server:
        tell(journal, tmp_path / "art", narrator=OpenAINarrator("teller", server.url, "key"))
    first, second = (select_extras(journal.store, name)["narrative"] for name in ("r1", "r2"))
    assert (first.value, first.maker, first.fault) == (good, f"openai:teller@{server.url}", None)
    assert (second.maker, second.fault) == ("deterministic", "unknown_hotkey")
    assert "The model's narrative was not used" in second.value


@on_sqlite
def test_a_model_is_asked_once_however_often_the_picture_fails(
    journal: Journal, senses: LocalSenses, tmp_path: Path
) -> None:
    play(journal, senses)
    place, clock = tmp_path / "art", Turned()
    place.write_text("a file is in the way")
    good = name_score(journal, "r1")
    with serve_chat(say(good)) as server:
        narrator = OpenAINarrator("teller", server.url, "key")
        for _ in range(4):
            tell(journal, place, clock, narrator=narrator)
            clock.at += 3600
        place.unlink()
        tell(journal, place, clock, narrator=narrator)
        assert len(server.requests) == 1
    extras = select_extras(journal.store, "r1")
    assert extras["narrative"].value == good
    assert Path(extras["heatmap"].value).is_file()


@on_sqlite
def test_a_picture_once_drawn_is_not_forgotten(journal: Journal, senses: LocalSenses, tmp_path: Path) -> None:
    class Broken:
        id = "broken"

        def tell(self, _) -> str:
            raise RuntimeError("not our own kind of fault")

    def draw_nothing(_) -> bytes:
        raise AssertionError("it was drawn before")

    play(journal, senses)
    clock = Turned()
    tell(journal, tmp_path / "art", clock, narrator=Broken())
    assert select_extras(journal.store, "r1").keys() == {"heatmap"}
    clock.at += 60
    tell(journal, tmp_path / "art", clock, render=draw_nothing)
    extras = select_extras(journal.store, "r1")
    assert extras["narrative"].value.endswith(f"The heatmap is {extras['heatmap'].value}.")


def test_a_round_removed_while_it_is_drawn_leaves_no_picture(
    journal: Journal, senses: LocalSenses, tmp_path: Path
) -> None:
    def draw_and_forget(_) -> bytes:
        with journal.store.write() as connection:
            connection.execute(tables.rounds.delete())
        return b"png"

    play(journal, senses)
    tell(journal, tmp_path / "art", render=draw_and_forget)
    assert list((tmp_path / "art/heatmaps").iterdir()) == []


@on_sqlite
def test_pictures_go_with_their_rounds(journal: Journal, senses: LocalSenses, tmp_path: Path) -> None:
    for number in range(3):
        play(journal, senses, f"r{number}", START + 300 * number * HOUR)
    clock = Turned(START + 1000 * HOUR)
    tell(journal, tmp_path / "art", clock)
    folder = tmp_path / "art/heatmaps"
    assert len(list(folder.iterdir())) == 3
    assert clean_up(journal.store, clock.now(), Averaging(), "me", lambda _: b"signed").rounds == 2
    for _ in range(2):
        tell(journal, tmp_path / "art", clock)
    assert [file.name for file in folder.iterdir()] == ["r2.png"]


def test_a_story_whose_round_is_gone_is_given_up(journal: Journal, tmp_path: Path) -> None:
    from weighbeam.engine.outbox.queue import insert_item

    with journal.store.write() as connection:
        insert_item(connection, "story", "gone", "inference", START, {})
        insert_item(connection, "story", "other", "unknown-mechanism", START, {})
    tell(journal, tmp_path / "art")
    with journal.store.read() as connection:
        assert {row.state for row in connection.execute(tables.outbox.select())} == {"given_up"}
