"""Alerts: logged with a remedy, kept in the store, counted (docs/spec/weigh-in.md § 10), and formatted for a chat or a
mailbox.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.notices import Notice, NoticePolicy, end_notice, list_notices, list_quiet, raise_notice
from weighbeam.store import tables
from weighbeam.store.database import Store
from weighbeam.store.seals import insert_sealed

Level = Literal["info", "warning", "critical"]
LOG = logging.getLogger("weighbeam")
MAX_TEXT = 4000
LEVELS: dict[Level, int] = {"info": logging.INFO, "warning": logging.WARNING, "critical": logging.CRITICAL}
REMEDIES = {
    "degraded_mode": "see why weights did not land: weighbeam journal weights",
    "emergency_mode": "set weights now: check chain endpoint, stake and permit; weighbeam journal weights --dry-run",
    "chain_unreadable": "check the chain endpoint; nothing is sent until it answers",
    "weights_late": "see why they were late: weighbeam journal weights, and the log before this line",
    "uniform_weights": "no miner has earned anything: weighbeam journal round ROUND says why",
    "validator_list_unreadable": "check the file or URL of validator.known_validators",
    "no_permit": "add the stake named and wait for the epoch; if miners need no permit: validator.require_permit",
    "too_few_miners": "the text says which rule excluded how many miners: relax it, or wait for more",
    "refused": "by reason: stale, set this machine's clock; 403, add stake for a permit; 401, check the wallet",
    "late_machine": "no miner is charged; give this machine more cores, or run fewer rounds and programs on it at once",
    "weigh_in_stalled": "see the decisions and their reasons: weighbeam journal weights --mechanism NAME",
    "submission_failed": "weighbeam journal weights shows the reason; it is tried again by itself",
    "weights_differ": "stop any other program that uses this hotkey; the text has both vectors",
    "reveal_missing": "check stake, permit and version key; the weights are committed again at the next weigh-in",
    "clock_skew": "set this machine's clock (NTP)",
    "env_ignored": "unset the variable; such parameters change with the mechanism's release only",
    "mechanism_broken": "upgrade or fix its package, then start again: weighbeam doctor says what is wrong",
    "mechanism_fault": "fix the mechanism's measure or grade; weighbeam mechanism check NAME finds faults",
    "round_discarded": "see the log line before it: the fault is this validator's, and no miner is charged",
    "stalled": "check this machine's connection and the chain's node, or name another as chain.endpoint",
    "runtime_changed": "nothing to do: the connection was reopened; check that weights are still confirmed",
    "runtime_mismatch": "upgrade the chain's SDK: pip install --upgrade 'weighbeam[bittensor]'",
    "watchdog": "the service manager restarts the process; the log says what it waited for",
    "endpoint_source": "check the file of static endpoints, or the plug-in that the text names",
    "few_documents": "put more documents into the folder that the text names",
    "no_observers": "start one: weighbeam run observer; or set validator.rounds to own",
    "lock_lost": "stop the other validator of this hotkey, then start this one again",
    "burn_target_unproven": "name a hotkey of the subnet's owner as burn_hotkey, or leave it out",
    "no_burn_target": "name a hotkey of the subnet's owner as burn_hotkey; until then miners get everything",
    "duplicate_answers": "nothing to do: copies share one vote and one reward; weighbeam journal duplicates lists them",
    "low_quality_cluster": "look at the answers: weighbeam journal round ROUND; flagged ones earn nothing",
    "all_low_quality": "look at the prompt and at the answers: weighbeam journal round ROUND",
    "void_round": "see why miners do not answer: weighbeam journal round ROUND",
    "challenge_source": "check challenges.pull and its token; rounds continue with the validator's own prompts",
    "list_refused": "fix or sign it: weighbeam evidence lists check; it is read again once it changes",
    "cluster_lost": "look at ray status and weighbeam doctor; rounds continue with this machine's own senses",
    "worker_differs": "install the same weighbeam and models on every node, of one kind of processor",
    "outbox_given_up": "check the address or folder that the text names; the job is not tried again",
}
ANY_REMEDY = "see weighbeam journal rounds and the mechanism's documentation"
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

    def __init__(self, store: Store, now: Callable[[], float], telling: NoticePolicy | None = None) -> None:
        self._store = store
        self._now = now
        self.telling = telling or NoticePolicy(started=now())
        self.counts: Counter[tuple[str, str]] = Counter()

    def tell(self, code: str, level: Level, text: str, mechanism: str | None = None, left: bool = False) -> None:
        """`left` says that a state is over, which raises no notice: `end` ends it."""
        self.counts[code, level] += 1
        text = text.encode("utf-8", "replace").decode()[:MAX_TEXT]
        remedy, at = find_remedy(code, mechanism), self._now()
        fields = {"code": code, "mechanism": mechanism, "remedy": remedy}
        LOG.log(LEVELS[level], "%s%s: %s | remedy: %s", _prefix(mechanism), code, text, remedy, extra=fields)
        row = {"mechanism": mechanism, "code": code, "level": level, "text": text}
        try:
            with self._store.write() as connection:
                insert_sealed(connection, tables.alerts, {"at": at, **row})
                if not left:
                    raise_notice(connection, self.telling, code, mechanism, level, text, at)
        except Exception as fault:
            log_fault(fault, mechanism)

    def end(self, over: Mapping[str, str], mechanism: str | None = None) -> None:
        """End open alerts: by code, the reason why each is over. Codes without an open alert are ignored."""
        try:
            known = {one.code: one for one in list_notices(self._store) if one.mechanism == mechanism}
            self._end([(one, over[code]) for code, one in known.items() if code in over])
        except Exception as fault:
            log_fault(fault, mechanism)

    def end_quiet(self) -> None:
        """End alerts that were not raised again for long enough."""
        hours = self.telling.quiet_seconds / 3600
        try:
            quiet = list_quiet(self._store, self.telling, self._now())
            self._end([(one, f"not raised again for {hours:g} h") for one in quiet])
        except Exception as fault:
            log_fault(fault)

    def _end(self, ended: list[tuple[Notice, str]]) -> None:
        for notice, why in ended:
            with self._store.write() as connection:
                end_notice(connection, self.telling, notice.code, notice.mechanism, why, self._now())
            fields = {"code": notice.code, "mechanism": notice.mechanism}
            LOG.info("%s%s is over: %s", _prefix(notice.mechanism), notice.code, why, extra=fields)


def log_fault(fault: Exception, mechanism: str | None = None) -> None:
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


def find_remedy(code: str, mechanism: str | None = None) -> str:
    """
    >>> find_remedy("weigh_in_stalled", "tides")
    'see the decisions and their reasons: weighbeam journal weights --mechanism tides'
    """
    remedy = REMEDIES.get(code, ANY_REMEDY)
    return remedy.replace("--mechanism NAME", f"--mechanism {mechanism}") if mechanism else remedy


def _prefix(mechanism: str | None) -> str:
    return f"{mechanism}: " if mechanism else ""


MAX_NOTICE_TEXT = 1500
HARMLESS = str.maketrans({"@": "＠", "<": "‹", ">": "›", "[": "(", "]": ")", "`": "'", "#": "＃"})
"""No mention, no channel, no tag and no link is left of a text."""


def format_notice(body: Mapping[str, Any], place: str) -> tuple[str, str]:
    """Title and text; the alert's own words stand first, as they are.

    >>> title, text = format_notice({"what": "raised", "code": "clock_skew", "level": "warning", "text": "3 are later",
    ...     "opened": 0.0, "at": 0.0, "times": 1}, "validator 5F…, chunking on subnet 7")
    >>> print(title, text, sep="\\n")
    warning: clock_skew
    3 are later
    remedy: set this machine's clock (NTP)
    validator 5F…, chunking on subnet 7
    since 1970-01-01 00:00:00 UTC
    """
    code, text = str(body["code"]), neutralise(str(body["text"]))
    since, at = _format_time(body["opened"]), _format_time(body["at"])
    if body["what"] == "over":
        return f"over: {code}", f"{text}\n{place}\nfrom {since} to {at}, raised {_format_times(body['times'])}"
    again = f", raised {_format_times(body['times'])} since the last notice" if body["what"] == "again" else ""
    told = f"{text}\nremedy: {find_remedy(code)}\n{place}\nsince {since}{again}"
    return f"{body['level']}: {code}", told


def neutralise(text: str, limit: int = MAX_NOTICE_TEXT) -> str:
    """
    >>> neutralise("@everyone [free](https://evil.example/x) <!here> a\\nb")
    '＠everyone (free)(https: //evil.example/x) ‹!here› a b'
    """
    shown = "".join(c if c.isprintable() else " " for c in text.translate(HARMLESS).replace("://", ": //"))
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def _format_times(times: int) -> str:
    return "once" if times == 1 else f"{times} times"


def _format_time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))
