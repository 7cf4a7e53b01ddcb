"""Constants that the rules name are those of the code. Those of chunking, evidence and inference: tests/mechanisms."""

import re

from tests_root import ROOT
from weighbeam.engine.rules.constants import CONSTANTS, TAO
from weighbeam.mechanisms.novelty.params import NoveltyParams

ROW = re.compile(r"^\| `?(\w+)`? \| ([^|]+) \|", re.M)


def read_table(page: str, names: set[str]) -> dict[str, str]:
    """Name and value as written, without spaces in numbers and quotes of code."""
    rows = ROW.findall((ROOT / f"docs/spec/{page}.md").read_text())
    return {name: value.strip("` ").replace(" ", "") for name, value in rows if name in names}


def read_value(written: str) -> float | str | bool:
    if written.endswith("TAO"):
        return float(written.removesuffix("TAO")) * TAO
    if written in ("true", "false"):
        return written == "true"
    return float(written) if re.fullmatch(r"[\d.]+", written) else written


def test_the_parameters_of_novelty_are_those_of_its_rules() -> None:
    written = read_table("novelty", set(NoveltyParams.model_fields))
    assert len(written) == 16
    params = NoveltyParams().model_dump()
    known = {name: str(value).replace(" ", "") if name == "scale" else value for name, value in params.items()}
    assert {name: read_value(value) for name, value in written.items()} == {name: known[name] for name in written}


def test_the_constants_of_the_weigh_in_are_those_of_its_rules() -> None:
    written = read_table("weigh-in", set(CONSTANTS))
    assert {name: read_value(value) for name, value in written.items()} == dict(CONSTANTS)
