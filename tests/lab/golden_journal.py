"""The newest golden journal, to be looked at."""

from typing import Any

from tests_root import ROOT
from weighbeam.engine.read_journal import view_journal
from weighbeam.lab.backtest.compare import Compared
from weighbeam.lab.backtest.play import Course
from weighbeam.lab.backtest.run import Backtest, run_backtest
from weighbeam.lab.backtest.support import Allowed
from weighbeam.lab.backtest.terms import read_terms
from weighbeam.mechanisms.registry import load_mechanism

VERSIONS = sorted(path.parent for path in (ROOT / "golden").glob("*/journal.sqlite"))
JOURNAL = VERSIONS[-1] / "journal.sqlite"


def backtest(given: dict[str, Any], allowed: Allowed | None = None, **course: Any) -> Backtest:
    store = view_journal(str(JOURNAL))
    found = run_backtest(store, read_terms(given), Course(load_mechanism, **course), allowed)
    store.close()
    return found


def compare(mechanism: str, given: dict[str, Any], **course: Any) -> Compared:
    return backtest(given, only=mechanism, **course).comparison.mechanisms[mechanism]
