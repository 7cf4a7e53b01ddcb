"""Real senses for every test, with a cache of the test run's own."""

import os
import re
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from demo_run import Played, play_demo
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
ALL_ALONE = re.compile(r"^pytestmark = .*mark\.alone", re.M)
DOCTEST = re.compile(r"^\s*>>> ", re.M)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file without tests of the half that is run is not imported: every worker would."""
    half = config.getoption("markexpr")
    if half not in ("alone", "not alone") or collection_path.name == "__pycache__":
        return None
    files = collection_path.rglob("test_*.py") if collection_path.is_dir() else (collection_path,)
    return all(map(is_all_alone if half == "not alone" else is_never_alone, files)) or None


def is_all_alone(path: Path) -> bool:
    return ALL_ALONE.search(path.read_text()) is not None


def is_never_alone(path: Path) -> bool:
    return "mark.alone" not in path.read_text()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, Iterable[pytest.Collector], list[pytest.Collector]]:
    """Only a file with doctests is searched for them, which imports it."""
    found = yield
    told = file_path.suffix == ".py" and DOCTEST.search(file_path.read_text()) is not None
    return [collector for collector in found if told or not isinstance(collector, DoctestModule)]


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all workers of a run: what one has embedded or built, no other does again."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache"
    folder.mkdir(exist_ok=True)
    os.environ["WEIGHBEAM_CACHE"] = str(folder)
    return folder


@pytest.fixture(scope="session")
def senses(cache: Path) -> LocalSenses:
    return LocalSenses(cache=cache)


@pytest.fixture(scope="session")
def played(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """A demo for tests that are `alone`; its files are everybody's, so whoever changes one copies it first."""
    return play_demo(lambda: tmp_path_factory.mktemp("demo") / "subnet")


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
