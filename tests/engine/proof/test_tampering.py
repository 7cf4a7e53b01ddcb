"""What is changed in a journal is found and named; the whole catalogue is `make tamper`."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from command import weighbeam
from demo_run import Played, copy_database
from engine.proof.tampering import Tampering, is_named, judge, list_tamperings
from weighbeam.engine.journal.access import open_journal
from weighbeam.engine.journal.head import load_head
from weighbeam.engine.proof.prove import Pins, prove
from weighbeam.engine.proof.report import render_page
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.network.keys import Hotkey
from weighbeam.store.database import Store

SEED, PLAYED = 20, 16
pytestmark = pytest.mark.paired


@pytest.fixture(scope="module")
def journal(played: Played, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Pins]]:
    _, folder = played
    head = load_head(folder / "validator-1.db.head")
    store = open_journal(
        str(copy_database(folder / "validator-1.db", tmp_path_factory.mktemp("tamper") / "journal.db"))
    )
    yield store, Pins(head.hotkey, (head,))
    store.close()


@pytest.fixture(scope="module")
def cases(journal: tuple[Store, Pins]) -> list[Tampering]:
    with journal[0].read() as connection:
        return list_tamperings(connection)


def test_an_honest_journal_raises_no_alarm(journal: tuple[Store, Pins]) -> None:
    found = prove(journal[0], load_mechanism, journal[1])
    assert found.faults == []
    assert found.replies > 0
    assert "Every number was computed again" in render_page(found)


def test_the_catalogue_is_long(cases: list[Tampering]) -> None:
    assert len(cases) >= 60


def test_forgeries_and_a_sample_of_changes_are_found_and_named(
    journal: tuple[Store, Pins], cases: list[Tampering], capsys: pytest.CaptureFixture[str]
) -> None:
    with capsys.disabled():
        print(f" seed {SEED}", end="")
    simple = [case for case in cases if case.name.startswith(("change ", "delete ", "add a row"))]
    chosen = [case for case in cases if case not in simple] + random.Random(SEED).sample(simple, PLAYED)
    for case in chosen:
        found = judge(*journal[:1], case, journal[1])
        assert found.faults, f"unseen: {case.name}"
        assert is_named(case, found), f"not named: {case.name}: {found.faults}"


def test_the_report_of_a_forged_journal_says_so(
    journal: tuple[Store, Pins], cases: list[Tampering], tmp_path: Path
) -> None:
    (case,) = (one for one in cases if one.name == "cut the tail of the chain")
    page = render_page(judge(journal[0], case, journal[1]))
    assert "differences.</strong>" in page
    assert "head" in page


def test_a_journal_is_verified_with_its_settings_and_its_chain(played: Played, tmp_path: Path) -> None:
    """The wallet of the settings, the head beside the journal and the chain agree with it."""
    settings, report = played[1] / "validator-1.toml", tmp_path / "report.html"
    done = weighbeam("replay", "--verify", "--config", settings, "--chain", "--report", report)
    assert done.returncode == 0, done.stdout
    assert "signed by 5" in done.stdout
    assert done.stdout.endswith("0 differ\n")
    assert "Every number was computed again" in report.read_text("utf-8")
    stranger = Hotkey.from_uri("//Mallory").address
    other = weighbeam("replay", "--verify", "--store", played[1] / "validator-1.db", "--hotkey", stranger)
    assert other.returncode == 1
    assert f"expected {stranger}" in other.stdout
