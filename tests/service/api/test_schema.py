"""The whole API of both apps against its own /openapi.json: no 5xx, no status or shape that is not documented."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from service.holders import bear
from service.schema_calls import find_faults
from service.whole_apps import KNOWN, OPEN, fill
from weighbeam.app.settings.sources import LoadedSettings

EXAMPLES = 12
FEW = 4


@pytest.fixture(scope="module")
def loaded(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> LoadedSettings:
    return fill(tmp_path_factory.mktemp("schema"))


@pytest.fixture(scope="module", params=sorted(OPEN))
def url(request, loaded: LoadedSettings) -> Iterator[str]:
    with OPEN[request.param](loaded) as served:
        yield served


def tell(faults: Iterator[tuple[str, BaseException]]) -> str:
    return "\n\n".join(f"{label}: {fault}" for label, fault in faults)


def test_whoever_may_do_everything_is_answered_as_documented(url: str) -> None:
    assert tell(find_faults(url, bear("all"), KNOWN, EXAMPLES)) == ""


def test_whoever_shows_nothing_is_answered_as_documented(url: str) -> None:
    assert tell(find_faults(url, {}, KNOWN, FEW)) == ""


def test_both_apps_document_the_same_but_for_challenges(loaded: LoadedSettings) -> None:
    paths = {}
    for name, opened in OPEN.items():
        with opened(loaded) as url:
            paths[name] = set(httpx2.get(f"{url}/openapi.json").json()["paths"])
    assert paths["validator"] - paths["serve"] == {"/v1/challenges", "/v1/challenges/{challenge_id}"}
    assert paths["serve"] <= paths["validator"]
