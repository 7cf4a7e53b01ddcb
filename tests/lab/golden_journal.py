"""The newest golden journal, to be looked at."""

from typing import Any

from tests_root import ROOT
from weighbeam.engine.journal.access import view_journal
from weighbeam.lab.backtest.compare import MechanismComparison
from weighbeam.lab.backtest.overrides import parse_overrides
from weighbeam.lab.backtest.play import BacktestCourse
from weighbeam.lab.backtest.run import Backtest, run_backtest
from weighbeam.lab.backtest.support import AllowedDifferences
from weighbeam.mechanism.registry import load_mechanism

VERSIONS = sorted(path.parent for path in (ROOT / "golden").glob("*/journal.sqlite"))
JOURNAL = VERSIONS[-1] / "journal.sqlite"


def backtest(given: dict[str, Any], allowed: AllowedDifferences | None = None, **course: Any) -> Backtest:
    store = view_journal(str(JOURNAL))
    found = run_backtest(store, parse_overrides(given), BacktestCourse(load_mechanism, **course), allowed)
    store.close()
    return found


def compare(mechanism: str, given: dict[str, Any], **course: Any) -> MechanismComparison:
    return backtest(given, only=mechanism, **course).comparison.mechanisms[mechanism]
