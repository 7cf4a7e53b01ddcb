"""Parsers that all tests of pages share: starting one costs more than most tests."""

from collections.abc import Iterator

import pytest

from weighbeam.senses.adapters.pages.parsing.parsers import ParserPool


@pytest.fixture(scope="session")
def parsers() -> Iterator[ParserPool]:
    shared = ParserPool()
    yield shared
    shared.close()
