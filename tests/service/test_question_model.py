"""A mechanism of anybody's with a question model: the API describes the question by it, and parses it by it."""

import time
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import pytest
from prometheus_client import CollectorRegistry
from pydantic import BaseModel, Field, ValidationError, field_validator

from network.loopback import ALICE, serve_app
from service.holders import place
from service.organic_api import Api, said
from weighbeam.engine.requests.organic import take_next
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.mechanism.records import Task
from weighbeam.mechanisms.inference.question import InferenceQuestion
from weighbeam.service.api.request_handlers import RequestApi
from weighbeam.service.api.request_routes import add_organic
from weighbeam.service.app import make_service_app
from weighbeam.service.http.authentication import Authenticator, TokenKeyring
from weighbeam.service.http.rate_limit import RateLimits
from weighbeam.service.http.threads import ThreadPools
from weighbeam.store.database import Store


class Rhyme(BaseModel):
    word: str
    weight: float = 1.0


class RhymeQuestion(BaseModel):
    """Words to find rhymes for."""

    rhymes: Annotated[list[Rhyme], Field(min_length=1, max_length=3)]
    lines: Annotated[int | None, Field(ge=1, description="lines at most")] = None

    @field_validator("lines")
    @classmethod
    def stumble(cls, lines: int | None) -> int | None:
        if lines == 13:
            raise KeyError("a fault of the mechanism's own")
        return lines


class Poet(Mechanism):
    """Rhyme."""

    name = "poet"
    question_model = RhymeQuestion


class Listener(Mechanism):
    """Take any question."""

    name = "listener"

    def pose(self, params: Any, task: Task) -> Mapping[str, Any]:
        return dict(task.body)


ASKED = {"rhymes": [{"word": "tide", "weight": 2}], "lines": None}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    store = Store(f"sqlite:///{tmp_path_factory.mktemp('poet') / 'journal.db'}")
    place(store, "app", ("ask",))
    pools = ThreadPools()
    app = make_service_app(pools.submissions, CollectorRegistry())
    api = RequestApi(store, {one.name: (one, Params()) for one in (Poet(), Listener())}, time.time)
    authenticator = Authenticator(ALICE.address, TokenKeyring(store), RateLimits(), 60_000)
    watch = add_organic(app, authenticator, api, pools)
    with serve_app(app) as endpoint:
        yield Api(f"http://{endpoint}", store, watch)
    pools.close()
    store.close()


def describe(api: Api, mechanism: str) -> dict[str, Any]:
    operation = api.get("/openapi.json").json()["paths"][f"/v1/{mechanism}/requests"]["post"]
    schema: dict[str, Any] = operation["requestBody"]["content"]["application/json"]["schema"]
    return schema


def test_its_question_is_described_with_the_options_of_every_question(api: Api) -> None:
    schema = describe(api, "poet")
    assert (schema["title"], schema["description"]) == ("RhymeQuestion", "Words to find rhymes for.")
    assert set(schema["properties"]) == {"rhymes", "lines", "wanted", "ranked", "priority", "key"}
    assert schema["required"] == ["rhymes"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["rhymes"]["items"]["properties"]["word"]["type"] == "string"
    assert "$ref" not in str(schema)
    assert describe(api, "listener")["additionalProperties"] is True


def test_its_question_is_asked_as_it_was_sent(api: Api) -> None:
    assert api.ask({**ASKED, "priority": "low"}, mechanism="poet").status_code == 202
    taken = take_next(api.store, "poet", "r-1", time.time())
    assert taken is not None
    assert taken.task.body == {"rhymes": [{"word": "tide", "weight": 2}]}
    assert api.ask({"anything": [1, {"goes": None}], "nothing": None}, mechanism="listener").status_code == 202
    heard = take_next(api.store, "listener", "r-2", time.time())
    assert heard is not None
    assert heard.task.body == {"anything": [1, {"goes": None}]}


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ({}, "bad_rhymes"),
        ({"rhymes": []}, "bad_rhymes"),
        ({"rhymes": [{"word": "tide"}] * 4}, "bad_rhymes"),
        ({"rhymes": [{"word": 7}]}, "bad_rhymes"),
        ({"rhymes": [{"word": "tide", "weight": "2"}]}, "bad_rhymes"),
        ({**ASKED, "lines": "3"}, "bad_lines"),
        ({**ASKED, "lines": 3.0}, "bad_lines"),
        ({**ASKED, "lines": True}, "bad_lines"),
        ({**ASKED, "lines": 13}, "bad_question"),
        ({**ASKED, "metre": "iambic"}, "bad_question"),
        ({**ASKED, "\ud800": 1}, "bad_question"),
        ({**ASKED, **{f"field-{number}": 1 for number in range(10_000)}}, "bad_question"),
        ({**ASKED, "wanted": ["Bob"]}, "bad_terms"),
        ({**ASKED, "key": ""}, "bad_key"),
        ([], "bad_question"),
    ],
)
def test_what_does_not_fit_its_model_is_refused_by_field(api: Api, content: Any, error: str) -> None:
    refused = api.ask(content, mechanism="poet")
    assert said(refused) == (400, error)
    assert len(refused.content) < 1000


def test_a_refusal_names_the_place_and_repeats_no_value(api: Api) -> None:
    refused = api.ask({"rhymes": [{"word": {"hush": "secret"}}]}, mechanism="poet").json()
    assert refused["message"] == "rhymes.0.word: Input should be a valid string"
    assert api.ask({**ASKED, "s\u00e9cret": 1}, mechanism="poet").json()["message"] == "unknown field: s\\xe9cret"


def test_a_flood_of_faults_is_told_by_its_first() -> None:
    with pytest.raises(ValidationError) as told:
        InferenceQuestion.model_validate({"messages": [1] * 100_000})
    assert told.value.error_count() == 1
