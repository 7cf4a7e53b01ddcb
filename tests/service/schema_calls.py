"""Calls made up from /openapi.json by schemathesis: each must be answered as the document says, and never with 5xx."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urljoin

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import APIOperation, Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
EVENTS = "/v1/events"
MOST_STREAMS = 2
SECONDS = 20.0
ACCEPTED = 202
Known = Mapping[str, tuple[Any, ...]]
"""By the name of a parameter what there is; by a path bodies that can be taken."""


def find_faults(
    url: str, headers: Mapping[str, str], known: Known, examples: int, begin: int = 7
) -> Iterator[tuple[str, BaseException]]:
    """By operation the first call that was not answered as documented."""
    schema = schemathesis.openapi.from_url(f"{url}/openapi.json")
    with requests.Session() as session:
        for found in schema.get_all_operations():
            operation = found.ok()
            try:
                call(operation, session, headers, known, examples, begin)
            except (Exception, FailureGroup) as fault:
                yield operation.label, fault


def call(
    operation: APIOperation,
    session: requests.Session,
    headers: Mapping[str, str],
    known: Known,
    examples: int,
    begin: int,
) -> None:
    """What fits the document and what does not, in turns, half of it on things that exist."""
    streams = operation.path == EVENTS
    both = [operation.as_strategy(generation_mode=mode) for mode in GenerationMode] if not streams else []

    @seed(begin)
    @settings(
        max_examples=MOST_STREAMS if streams else examples,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
        deadline=None,
    )
    @given(st.one_of(both) if both else operation.as_strategy(), st.booleans(), st.integers(0, 99))
    def answered(case: Case, real: bool, which: int) -> None:
        if real:
            put_known(case, known, which)
        if streams:
            case.query = {**dict(case.query or {}), "seconds": 1}
        done = case.call_and_validate(session=session, headers=dict(headers), checks=CHECKS, timeout=SECONDS)
        if done.status_code == ACCEPTED:
            take_back(session, done, headers)

    answered()


def take_back(session: requests.Session, done: Any, headers: Mapping[str, str]) -> None:
    """Nobody plays rounds here, and the line of those who wait is not endless."""
    where = urljoin(done.request.url, f"/v1/requests/{done.json()['id']}")
    session.delete(where, headers=dict(headers), timeout=SECONDS)


def put_known(case: Case, known: Known, which: int) -> None:
    """What exists in place of what was made up: in the path, in the query, as the body, and who calls."""

    def choose(names: Iterable[str]) -> dict[str, Any]:
        return {name: known[name][which % len(known[name])] for name in names if name in known}

    given: Any = case.path_parameters or {}
    case.path_parameters = {**given, **choose(given)}
    case.headers.pop("Authorization", None)
    case.query = choose(one.name for one in case.operation.query)
    if case.operation.path in known:
        case.body = choose([case.operation.path])[case.operation.path]
