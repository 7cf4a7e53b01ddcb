"""The threat table names code and tests that exist, and says of every threat what remains."""

import re

from tests_root import ROOT

PAGE = (ROOT / "docs/reference/security.md").read_text()
NOTHING = "Nothing"
PATH = re.compile(r"`([\w./-]+\.(?:py|txt))`")


def list_threats() -> list[list[str]]:
    rows = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")]
    return [row for row in rows if len(row) == 3 and row[0] not in ("threat", "---")]


def test_every_threat_names_code_and_tests_that_exist() -> None:
    threats = list_threats()
    assert len(threats) > 30
    for threat, stopped, named in threats:
        code, _, tests = named.partition("tests:")
        assert stopped.startswith(NOTHING) or (PATH.search(code) and PATH.search(tests)), threat
        for path in PATH.findall(code):
            assert (ROOT / "src/weighbeam" / path).is_file() or (ROOT / path).is_file(), (threat, path)
        for path in PATH.findall(tests):
            assert (ROOT / "tests" / path).is_file(), (threat, path)


def test_what_nothing_stops_is_said_to_remain() -> None:
    assert [threat for threat, told, _ in list_threats() if told.startswith(NOTHING) and "*Remains:*" not in told] == []


def test_no_row_of_the_page_is_malformed() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| ---")]
    assert {row.count(" | ") for row in rows} <= {1, 2}
