"""Real senses for every test, with a cache of the test run's own."""

import os
import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from subprocess import TimeoutExpired

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from demo_run import Played, find_demo, keep_demo, play_demo
from language_model import NEEDED, has_model, serve_model
from postgres import make_store_url as make_store_url
from postgres import postgres as postgres
from postgres import shared_store as shared_store
from postgres import store as store
from postgres import store_url as store_url
from weighbeam.senses.local import LocalSenses

settings.register_profile("weighbeam", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("weighbeam")

ROOT = Path(__file__).parent.parent
APART = ("alone", "paired", "slow")
ALL_APART = re.compile(rf"^pytestmark = .*mark\.({'|'.join(APART)})\b", re.M)
DOCTEST = re.compile(r"^\s*>>> ", re.M)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file without tests of the part that is run is not imported: every worker would."""
    part = config.getoption("markexpr")
    if part not in (*APART, " and ".join(f"not {part}" for part in APART)) or collection_path.name == "__pycache__":
        return None
    files = collection_path.rglob("test_*.py") if collection_path.is_dir() else (collection_path,)
    return all(map(is_all_apart if part not in APART else partial(lacks, part), files)) or None


def is_all_apart(path: Path) -> bool:
    return ALL_APART.search(path.read_text()) is not None


def lacks(part: str, path: Path) -> bool:
    return f"mark.{part}" not in path.read_text()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """The demo is played before there are workers: what its rounds come to depends on how busy the machine is."""
    if config.getoption("markexpr") == "paired":
        base = config._tmp_path_factory.getbasetemp()
        share_cache(base)
        with suppress(AssertionError, TimeoutExpired):  # a worker then plays one itself, and fails if that one does
            keep_demo(base)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, Iterable[pytest.Collector], list[pytest.Collector]]:
    """Only a file with doctests is searched for them, which imports it."""
    found = yield
    told = file_path.suffix == ".py" and DOCTEST.search(file_path.read_text()) is not None
    return [collector for collector in found if told or not isinstance(collector, DoctestModule)]


def find_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that all workers of a run share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def share_cache(base: Path) -> Path:
    folder = base / "cache"
    folder.mkdir(exist_ok=True)
    os.environ["WEIGHBEAM_CACHE"] = str(folder)
    return folder


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all workers of a run: what one has embedded or built, no other does again."""
    return share_cache(find_base(tmp_path_factory))


@pytest.fixture(scope="session")
def senses(cache: Path) -> LocalSenses:
    return LocalSenses(cache=cache)


@pytest.fixture(scope="session")
def played(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """A demo for tests that are `paired`; its files are everybody's, so a test that changes one copies it first."""
    kept = find_demo(find_base(tmp_path_factory))
    return kept or play_demo(lambda: tmp_path_factory.mktemp("demo") / "subnet")


@pytest.fixture(scope="session")
def language_model() -> Iterator[str]:
    """`openai:MODEL@URL` of a real model, for tests that are `llm`."""
    if not has_model():
        pytest.skip(NEEDED)
    with serve_model() as name:
        yield name


MEASURED = ("test_late", "test_lateness", "test_demo_late", "test_probe")
"""Modules that are about a machine that is late."""


@pytest.fixture(autouse=True)
def _patient(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests share a busy machine: elsewhere a round is not void because this process had to wait for its turn."""
    if request.node.path.stem in MEASURED:
        return
    from weighbeam.network import blame

    for limit in ("MAX_LAG_SECONDS", "MAX_LAG_SHARE", "MAX_STALLED_SHARE"):
        monkeypatch.setattr(blame, limit, 1e6)
