"""Defaults by version: one that changes without a new version is noticed here."""

import pytest

from weighbeam import __version__
from weighbeam.engine.rules.constants import Averaging, hash_weighing
from weighbeam.engine.views.weights import find_version
from weighbeam.mechanism import released
from weighbeam.mechanism.params import make_params
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanism.released import describe_version, load_released, name_version

NAMES = ("chunking", "evidence", "inference", "novelty")
DUE = "a default has changed: a new version and a line in CHANGELOG.md are due, then make golden (CONTRIBUTING.md)"


@pytest.mark.parametrize("name", NAMES)
def test_the_defaults_are_those_noted_of_this_version(name: str) -> None:
    defaults = make_params(load_mechanism(name)).model_dump(mode="json")
    assert load_released()[__version__][name] == defaults, DUE
    assert describe_version(name, defaults) == f"defaults of {__version__}"
    assert find_version(name, hash_weighing(name, defaults, Averaging())) == __version__


def test_parameters_are_named_by_the_version_they_are_nearest_to(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {"1.0": {"any": {"a": 1, "b": 1}}, "1.1": {"any": {"a": 2, "b": 1}}, "1.2": {"any": {"a": 2, "b": 1}}}
    monkeypatch.setattr(released, "load_released", lambda: versions)
    assert name_version("any", {"a": 1, "b": 1}) == ("1.0", {})
    assert name_version("any", {"a": 2, "b": 1}) == ("1.2", {})
    assert describe_version("any", {"a": 1, "b": 3}) == "defaults of 1.0, but b = 3"
    assert name_version("other", {}) is None
    assert describe_version("other", {}) == "other is not of weighbeam"
