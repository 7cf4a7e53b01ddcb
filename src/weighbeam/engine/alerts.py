"""Alerts: each is logged with what to do, kept in the store, and counted (docs/spec/weigh-in.md § 10)."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import insert

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.notices import Notice, Telling, end_notice, list_notices, list_quiet, raise_notice
from weighbeam.store import tables
from weighbeam.store.database import Store

Level = Literal["info", "warning", "critical"]
LOG = logging.getLogger("weighbeam")
MOST_TEXT = 4000
LEVELS: dict[Level, int] = {"info": logging.INFO, "warning": logging.WARNING, "critical": logging.CRITICAL}
REMEDIES = {
    "degraded_mode": "see why weights did not land: weighbeam weights",
    "emergency_mode": "set weights now: check the chain endpoint, stake, permit and weighbeam weights --dry-run",
    "chain_unreadable": "check the chain endpoint; nothing is sent until it answers",
    "weights_late": "see why they came so late: weighbeam weights and the log before it",
    "uniform_weights": "no miner has earned anything: see weighbeam leaderboard, and why in weighbeam round ROUND",
    "validator_list_unreadable": "check the file or URL of validator.known_validators",
    "weigh_in_stalled": "the reason repeats: weighbeam weights --mechanism NAME shows it",
    "submission_failed": "the reason is in weighbeam weights; it is tried again by itself",
    "weights_differ": "somebody else uses this hotkey, or the chain changed the row: compare both vectors",
    "reveal_missing": "the chain did not reveal a commit: check stake, permit and version key",
    "clock_skew": "set this machine's clock (NTP)",
    "env_ignored": "unset it, or change the mechanism's release",
    "round_discarded": "the reason is our own; see the line before it",
    "stalled": "the chain's node makes no blocks: check it, or name another as chain.endpoint",
    "runtime_changed": "nothing to do: the connection was made anew; look whether weights still land",
    "runtime_mismatch": "upgrade the chain's SDK: pip install --upgrade 'weighbeam[bittensor]'",
    "watchdog": "the service manager starts it again; the log says what it waited for",
    "endpoint_source": "check the static endpoints file or the plug-in named",
    "few_documents": "put more documents into the folder of tasks",
    "no_observers": "start one: weighbeam observer; or set validator.rounds to own",
    "lock_lost": "run one validator per hotkey",
    "burn_target_unproven": "name a hotkey of the subnet's owner as burn_hotkey, or leave it out",
    "no_burn_target": "name a hotkey of the subnet's owner as burn_hotkey; until then miners get everything",
    "duplicate_answers": "nothing to do: copies share one vote and one pay; weighbeam copies lists them",
    "low_quality_cluster": "look at the answers: weighbeam round ROUND; flagged ones earn nothing",
    "all_low_quality": "look at the prompt and at the answers: weighbeam round ROUND",
    "void_round": "see why miners do not answer: the reasons are in weighbeam round ROUND",
    "challenge_source": "check challenges.pull and its token; rounds go on with prompts of our own",
    "list_refused": "mend or sign it: weighbeam lists check; it is read again once it changes",
    "cluster_lost": "look at ray status and weighbeam doctor; rounds go on with this machine's own senses meanwhile",
    "worker_differs": "install the same weighbeam and models on every node, of one kind of processor",
    "outbox_given_up": "what failed is in the text: check the address or folder it names",
}
ANY_REMEDY = "see weighbeam rounds and the mechanism's documentation"
REPORT = "report it"


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert as it is kept."""

    at: float
    mechanism: str | None
    code: str
    level: str
    text: str


class Alerts:
    """Where alerts go. A store that cannot be written does not silence the log."""

    def __init__(self, store: Store, now: Callable[[], float], telling: Telling | None = None) -> None:
        self._store = store
        self._now = now
        self.telling = telling or Telling(started=now())
        self.counts: Counter[tuple[str, str]] = Counter()

    def tell(self, code: str, level: Level, text: str, mechanism: str | None = None, left: bool = False) -> None:
        """`left` says that a state is over, which raises no notice: `end` ends it."""
        self.counts[code, level] += 1
        text = text.encode("utf-8", "replace").decode()[:MOST_TEXT]
        remedy, at = find_remedy(code), self._now()
        fields = {"code": code, "mechanism": mechanism, "remedy": remedy}
        LOG.log(LEVELS[level], "%s%s: %s | remedy: %s", _prefix(mechanism), code, text, remedy, extra=fields)
        row = {"mechanism": mechanism, "code": code, "level": level, "text": text}
        try:
            with self._store.write() as connection:
                connection.execute(insert(tables.alerts).values(at=at, **row))
                if not left:
                    raise_notice(connection, self.telling, code, mechanism, level, text, at)
        except Exception as fault:
            tell_fault(fault, mechanism)

    def end(self, over: Mapping[str, str], mechanism: str | None = None) -> None:
        """By code, why what was told is over; where nothing was, nothing happens."""
        try:
            known = {one.code: one for one in list_notices(self._store) if one.mechanism == mechanism}
            self._end([(one, over[code]) for code, one in known.items() if code in over])
        except Exception as fault:
            tell_fault(fault, mechanism)

    def end_quiet(self) -> None:
        """What was not raised for long enough is over."""
        hours = self.telling.quiet_seconds / 3600
        try:
            quiet = list_quiet(self._store, self.telling, self._now())
            self._end([(one, f"not raised again for {hours:g} h") for one in quiet])
        except Exception as fault:
            tell_fault(fault)

    def _end(self, ended: list[tuple[Notice, str]]) -> None:
        for notice, why in ended:
            with self._store.write() as connection:
                end_notice(connection, self.telling, notice.code, notice.mechanism, why, self._now())
            fields = {"code": notice.code, "mechanism": notice.mechanism}
            LOG.info("%s%s is over: %s", _prefix(notice.mechanism), notice.code, why, extra=fields)


def tell_fault(fault: Exception, mechanism: str | None = None) -> None:
    """A line in the log for a fault: what happened and what to do."""
    if isinstance(fault, WeighbeamError):
        remedy, fields = fault.remedy or "none", {"code": fault.code, "mechanism": mechanism, "remedy": fault.remedy}
        LOG.error("%s%s: %s | remedy: %s", _prefix(mechanism), fault.code, fault.message, remedy, extra=fields)
    else:
        name = type(fault).__name__
        fields = {"code": name, "mechanism": mechanism, "remedy": REPORT}
        LOG.error("%s%s | remedy: %s", _prefix(mechanism), name, REPORT, exc_info=fault, extra=fields)


def name_fault(fault: Exception) -> str:
    return fault.code if isinstance(fault, WeighbeamError) else type(fault).__name__


def find_remedy(code: str) -> str:
    return REMEDIES.get(code, ANY_REMEDY)


def _prefix(mechanism: str | None) -> str:
    return f"{mechanism}: " if mechanism else ""
