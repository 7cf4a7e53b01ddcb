"""Parsers that all tests of pages share: starting one costs more than most tests."""

from collections.abc import Iterator

import pytest

from weighbeam.senses.pages.apart import Parsers


@pytest.fixture(scope="session")
def parsers() -> Iterator[Parsers]:
    shared = Parsers()
    yield shared
    shared.close()
