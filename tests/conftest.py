"""Real senses for every test, with a cache of the test run's own."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from demo_run import Played, play_demo
from postgres import make_store_url as make_store_url
from postgres import postgres as postgres
from postgres import shared_store as shared_store
from postgres import store as store
from postgres import store_url as store_url
from weighbeam.senses.local import LocalSenses

settings.register_profile("weighbeam", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("weighbeam")

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    os.environ["WEIGHBEAM_CACHE"] = str(folder)
    return folder


@pytest.fixture(scope="session")
def senses(cache: Path) -> LocalSenses:
    return LocalSenses(cache=cache)


@pytest.fixture(scope="session")
def played(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """A demo for tests that are `alone`; its files are everybody's, so whoever changes one copies it first."""
    return play_demo(lambda: tmp_path_factory.mktemp("demo") / "subnet")
