"""Limits of a backtest: parameters and windows that the journal cannot answer for."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.fold import FindMechanism
from weighbeam.lab.backtest.overrides import BacktestOverrides
from weighbeam.lab.backtest.survey import JournalSurvey, MechanismHistory, SurveyedWeighIn
from weighbeam.lab.backtest.window import Window
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import ReadBy

HOUR = 3600.0
FILTERED = ("max_miner_stake_rao", "validator_list_max_age_hours")
EVERYWHERE = ReadBy(("choose", "ask", "observe", "score", "stand", "weigh"))


@dataclass(frozen=True, slots=True)
class AllowedDifferences:
    """Differences that a comparison allows: recorded groups are reused, or a side is not verified."""

    keep_groups: bool = False
    anyway: bool = False


@dataclass(frozen=True, slots=True)
class ParameterChange:
    """One parameter, as some rounds had it and as it is set."""

    name: str
    before: Any
    after: Any

    def __str__(self) -> str:
        return f"{self.name} {self.before} → {self.after}"


def list_changes(
    survey: JournalSurvey, terms: BacktestOverrides, find: FindMechanism
) -> list[tuple[Mechanism, str, ParameterChange]]:
    """Every parameter of a mechanism that some round was not scored under; a bad value is refused."""
    found: dict[tuple[str, str, str], tuple[Mechanism, str, ParameterChange]] = {}
    for name, overrides in terms.params.items():
        mechanism = find(name)
        if name not in survey.held:
            raise WeighbeamError("nothing_recorded", f"the journal holds no rounds of {name}", "leave it out")
        for recorded in survey.held[name].params.values():
            before, after = BacktestOverrides().set_params(mechanism, recorded), terms.set_params(mechanism, recorded)
            for parameter in overrides:
                old, new = getattr(before, parameter), getattr(after, parameter)
                if old != new:
                    change = ParameterChange(f"{name}.{parameter}", old, new)
                    found[name, parameter, repr(old)] = (mechanism, parameter, change)
    return list(found.values())


def check_support(
    survey: JournalSurvey, terms: BacktestOverrides, find: FindMechanism, window: Window, allowed: AllowedDifferences
) -> list[str]:
    """Refuse all changes that cannot be judged, in one error; return notes on the others."""
    missing: list[str] = []
    unasked: list[str] = []
    notes: list[str] = []
    for mechanism, parameter, change in list_changes(survey, terms, find):
        read = _find_readers(mechanism, parameter)
        if read is EVERYWHERE and allowed.anyway:
            notes.append(f"{change}: {mechanism.name} does not declare its readers; treated as if only scoring read it")
            continue
        if "observe" in read.verbs and not _holds(read, change):
            missing.append(_describe_missing(mechanism, read, change))
        elif {"choose", "ask"} & set(read.verbs):
            told = f"{change}: it changes which miners or tasks rounds ask"
            (notes if allowed.keep_groups else unasked).append(
                f"{told}; kept as recorded" * allowed.keep_groups or told
            )
    missing += [f"weigh_in.{name}: who was eligible is recorded, not why" for name in FILTERED if name in terms.limits]
    missing += _list_forgotten(survey, terms, window)
    if missing:
        raise WeighbeamError(
            "not_observed", "; ".join(missing), "leave these out; the journal cannot show their effect"
        )
    if unasked and not allowed.keep_groups:
        remedy = "leave these out, or reuse the recorded groups with --keep-groups"
        raise WeighbeamError("not_asked", "; ".join(unasked), remedy)
    return [*notes, *(f"{one}; both are kept as recorded" for one in unasked)]


def _find_readers(mechanism: Mechanism, parameter: str) -> ReadBy:
    return mechanism.read_by.get(parameter, EVERYWHERE)


def _holds(read: ReadBy, change: ParameterChange) -> bool:
    if read.holds in (None, "any"):
        return read.holds == "any"
    return bool((change.after > change.before) == (read.holds == "raised"))


def _describe_missing(mechanism: Mechanism, read: ReadBy, change: ParameterChange) -> str:
    if read is EVERYWHERE:
        return f"{change}: {mechanism.name} does not declare its readers, so it counts as observed (--force tries it)"
    other = {"raised": "; only higher values can be tried", "lowered": "; only lower values can be tried"}
    return f"{change}: the observations under {change.after} are not recorded{other.get(read.holds or '', '')}"


def _list_forgotten(survey: JournalSurvey, terms: BacktestOverrides, window: Window) -> Iterator[str]:
    """Windows of averages that reach behind what clean-up left."""
    for name, held in survey.held.items():
        oldest = survey.find_oldest(name)
        late = [one for one in held.weighed if oldest is not None and _reaches_behind(one, terms, oldest)]
        first = window.start.at if window.start else None
        late = [one for one in late if first is None or one.at >= first]
        if late:
            hours = (late[-1].at - (oldest or 0.0)) / HOUR
            yield f"weigh_in.ema_lookback_hours: {name} is known from {hours:.3g} hours before its last weigh-in only"


def _reaches_behind(weighed: SurveyedWeighIn, terms: BacktestOverrides, oldest: float) -> bool:
    """A window longer than the recorded one that begins before the oldest evaluation; the recorded one was kept."""
    before, after = weighed.averaging, terms.set_averaging(weighed.averaging)
    for name in ("ema_lookback_hours", "db_retention_hours"):
        hours = float(getattr(after, name))
        if hours > getattr(before, name) and weighed.at - hours * HOUR < oldest:
            return True
    return False


def list_reach(survey: JournalSurvey, terms: BacktestOverrides, find: FindMechanism, made: bool = False) -> list[str]:
    """Notes on every backtest of such a journal; `made` if none of its weigh-ins is used."""
    notes = []
    if survey.checkpoint is not None and (terms.params or terms.averaging):
        notes.append("the journal begins with a checkpoint: the state in it is kept as recorded")
    asked = sorted(name for name in terms.params if find(name).kind == "asked" and _is_scored(survey.held.get(name)))
    if asked:
        names = ", ".join(asked)
        notes.append(f"rounds reuse the recorded groups; with other standings {names} might choose others")
    return [*notes, *_list_made(survey, made)]


def _list_made(survey: JournalSurvey, made: bool) -> Iterator[str]:
    """Weigh-ins that the journal does not hold, and what they are like."""
    if not made:
        for name in survey.unweighed:
            yield f"{name} has no weigh-in in the journal: one is made at its end, of everyone it asked"
    if (made or survey.unweighed) and not survey.list_weighed():
        yield "the journal holds no weigh-in: those that are made average, keep limits and burn as by default"
    elif survey.unweighed:
        names = ", ".join(survey.unweighed)
        yield f"{names}: averages, limits and who takes a burnt share are those of other mechanisms"


def _is_scored(held: MechanismHistory | None) -> bool:
    return held is not None and held.rounds > 0
