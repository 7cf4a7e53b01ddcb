"""The result of a comparison in sentences, the worst first."""

import time
from collections import Counter
from collections.abc import Iterator

from weighbeam.core.text import count_noun
from weighbeam.lab.backtest.compare import MechanismComparison
from weighbeam.lab.backtest.shares import MinerShares

HOUR = 3600.0
MAX_REASONS = 4
MODES = (("DEGRADED", "older answers count"), ("EMERGENCY", "all miners are paid alike, whatever they did"))


def describe_verdict(compared: MechanismComparison) -> str:
    """One line."""
    weigh_ins, rounds = compared.weigh_ins, compared.rounds
    if compared.is_equal:
        return "nothing changes: every score, standing and decision is the same to the bit"
    if is_nobody_paid(compared):
        return f"NOBODY WOULD BE PAID for an answer any more: {_describe_instead(compared)}"
    if not weigh_ins.apart:
        other = f"{rounds.changed} of {count_noun(rounds.rounds, 'round')} would score differently"
        return f"the weights stay as they are; {other}" if rounds.changed else "the weights stay as they are"
    moved = weigh_ins.apart / max(1, weigh_ins.counted)
    said = f"{moved:.1%} of the weights would go elsewhere, on average of {count_noun(weigh_ins.counted, 'weigh-in')}"
    miners = compared.list_miners()
    ends = [*(one for one in miners[:1] if one.gain > 0), *(one for one in miners[-1:] if one.gain < 0)]
    return "; ".join([said, *map(_describe_gain, ends)])


def is_nobody_paid(compared: MechanismComparison) -> bool:
    """Weights were set that somebody earned, and now none are."""
    return compared.weigh_ins.before.earned > 0 and not compared.weigh_ins.after.earned


def _describe_instead(compared: MechanismComparison) -> str:
    """Describe the weights on chain if no new earnings set them."""
    after = compared.weigh_ins.after
    burns = after.submits > after.uniform
    said = ["all of it is burnt"] if burns else ["all miners are paid alike"] if after.uniform else []
    if not after.skips:
        return said[0]
    if not said:
        return "no weights are set any more; those from before the change keep paying"
    return f"weights from before the change keep paying, then {said[0]}"


def list_findings(compared: MechanismComparison) -> list[str]:
    """Further findings: answers, decisions, modes."""
    tellers = (_describe_answers, _describe_decisions, _describe_unknown, _describe_modes, _describe_burn)
    return [line for tell in tellers for line in tell(compared)]


def _describe_answers(compared: MechanismComparison) -> Iterator[str]:
    rounds = compared.rounds
    before, after = rounds.before, rounds.after
    if after.barren > before.barren:
        failed = after.statuses["failed"]
        all_of = "all" if failed == rounds.answers else f"{failed} of"
        yield (
            f"in {after.barren} of {count_noun(rounds.rounds, 'round')} no answer counts (before: {before.barren}): "
            f"{all_of} {rounds.answers} answers fail (before: {before.statuses['failed']})"
        )
    elif rounds.turned:
        yield "answers: " + ", ".join(f"{count} {name}" for name, count in rounds.turned.most_common())
    changes = _list_reasons(before.reasons, after.reasons)
    if changes:
        yield "reasons: " + ", ".join(changes[:MAX_REASONS])


def _list_reasons(before: Counter[str], after: Counter[str]) -> list[str]:
    """The largest changes first.

    >>> _list_reasons(Counter(thin=1), Counter(thin=9, echo=2))
    ['thin 1 → 9', 'echo 0 → 2']
    """
    names = sorted(before.keys() | after.keys(), key=lambda name: (-abs(after[name] - before[name]), name))
    return [f"{name} {before[name]} → {after[name]}" for name in names if before[name] != after[name]]


def _describe_decisions(compared: MechanismComparison) -> Iterator[str]:
    tally = compared.weigh_ins
    for (before, after), count in tally.decisions.most_common():
        yield f"{count} of {count_noun(tally.weigh_ins, 'weigh-in')}: {before} → {after}"


def _describe_unknown(compared: MechanismComparison) -> Iterator[str]:
    """A skip leaves in force what the journal does not hold: what was on the chain before it."""
    tally = compared.weigh_ins
    if tally.unknown:
        told = f"after {tally.unknown} of {count_noun(tally.weigh_ins, 'weigh-in')} one side's weights are from before"
        yield f"{told} the journal; their receivers are not recorded and count as nobody"


def _describe_modes(compared: MechanismComparison) -> Iterator[str]:
    """When weights that are not set would have become too old; if the journal ends before that, when they would."""
    tally = compared.weigh_ins
    first = tally.first_turn
    if first is None or not tally.after.skips - tally.before.skips:
        return
    for mode, meaning in MODES:
        if tally.after.modes[mode] > tally.before.modes[mode]:
            hours = (tally.first_mode[mode] - first.at) / HOUR
            yield f"{mode} mode {hours:.1f} h after the first skip ({format_time(tally.first_mode[mode])}): {meaning}"
    last = tally.last_after
    if last is not None and last.action == "skip" and not tally.after.modes["EMERGENCY"]:
        left = (last.emergency - last.blocks) * last.block_seconds / HOUR
        yield f"if it goes on, EMERGENCY mode {left:.1f} h after the journal's last weigh-in: all are paid alike"


def _describe_burn(compared: MechanismComparison) -> Iterator[str]:
    before, after = compared.burn()
    if before != after:
        yield f"burnt: {before:.1%} → {after:.1%} of the weights"


def _describe_gain(miner: MinerShares) -> str:
    uid = "" if miner.uid is None else f"uid {miner.uid} "
    return f"{uid}{miner.before:.1%} → {miner.after:.1%}"


def format_time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%MZ", time.gmtime(seconds))
