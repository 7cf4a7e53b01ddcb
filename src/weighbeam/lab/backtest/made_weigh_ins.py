"""Weigh-ins that the journal does not hold, modelled on the nearest recorded one."""

import json
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import replace

from weighbeam.engine.journal.fold import RecordedEntry
from weighbeam.engine.rules.constants import Averaging, WeighInLimits
from weighbeam.engine.rules.decision import Burn
from weighbeam.engine.rules.weighing import Weighing
from weighbeam.lab.backtest.survey import JournalSurvey, SurveyedWeighIn
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import make_params

DEFAULT = SurveyedWeighIn(0, 0.0, Averaging(), WeighInLimits())


class NearestWeighIn:
    """Of some recorded weigh-ins, that which is nearest to a time."""

    def __init__(self, weighed: Iterable[SurveyedWeighIn]) -> None:
        self._weighed = sorted(weighed, key=lambda one: (one.at, one.sequence))
        self._times = [one.at for one in self._weighed]

    def find(self, at: float) -> SurveyedWeighIn | None:
        """
        >>> found = NearestWeighIn(replace(DEFAULT, at=time) for time in (10.0, 20.0))
        >>> [found.find(at).at for at in (0.0, 14.0, 16.0, 99.0)], NearestWeighIn([]).find(0.0)
        ([10.0, 10.0, 20.0, 20.0], None)
        """
        place = bisect_left(self._times, at)
        near = self._weighed[max(0, place - 1) : place + 1]
        return min(near, key=lambda one: abs(one.at - at), default=None)


class MadeWeighIn(RecordedEntry):
    """A weigh-in after the `last` round of a mechanism; no decision is recorded."""

    def __init__(self, mechanism: Mechanism, last: RecordedEntry | None, weighing: Weighing) -> None:
        self.sequence = last.sequence if last else 0
        self.kind, self.ref = "weigh_in", f"made after {self.sequence}"
        self.mechanism = mechanism
        params = last.body["params"] if last else {}
        self.body = {"mechanism": mechanism.name, "params": params, "weighing": weighing.as_json()}


class WeighInMaker:
    """Makes weigh-ins at regular times, or where a mechanism has none one at its end, as its own are recorded, or else
    as any is."""

    def __init__(self, survey: JournalSurvey, every: float | None) -> None:
        self._survey, self._every = survey, every
        self._made_for = set(survey.unweighed if every is None else survey.held)
        self._missing = set(self._made_for)
        self._due: dict[str, float] = {}
        self._uids: dict[str, dict[str, int]] = {}
        self._like: dict[str, tuple[NearestWeighIn, NearestWeighIn]] = {}
        self.last: dict[str, RecordedEntry] = {}

    def list_due(self, entry: RecordedEntry, counts: bool) -> Iterator[RecordedEntry]:
        """Those due before an entry, at regular times from the mechanism's first on."""
        if self._every is None:
            return
        due = self._due.setdefault(entry.name, entry.at + self._every)
        while due <= entry.at:
            if counts:
                self._missing.discard(entry.name)
            yield self._make(entry.mechanism, due)
            due += self._every
        self._due[entry.name] = due

    def list_missing(self) -> Iterator[RecordedEntry]:
        """Where no weigh-in was, or none was due, one at the end."""
        for name in sorted(self._missing & self.last.keys()):
            yield self._make(self.last[name].mechanism, self.last[name].at)

    def note_round(self, entry: RecordedEntry) -> None:
        """Note the miners that were asked and have not left; one without a uid gets the next free one."""
        self.last[entry.name] = entry
        if entry.name not in self._made_for:
            return
        known = self._uids.setdefault(entry.name, {})
        for hotkey in entry.body["departed"]:
            known.pop(hotkey, None)
        for hotkey, uid, *_ in json.loads(entry.load(entry.body["answers"])):
            known[hotkey] = uid if uid is not None else known.get(hotkey, max(known.values(), default=-1) + 1)

    def _make(self, mechanism: Mechanism, now: float) -> MadeWeighIn:
        name, last = mechanism.name, self.last.get(mechanism.name)
        if name not in self._like:
            own, every = self._survey.list_weighed(name), self._survey.list_weighed()
            burns = [one for one in own if one.burn] or [one for one in every if one.burn]
            self._like[name] = NearestWeighIn(own or every), NearestWeighIn(burns)
        nearest, burns_nearest = (one.find(now) for one in self._like[name])
        like, burn = nearest or DEFAULT, None
        if mechanism.burns:
            # Who was proven to be the subnet owner's takes it; if nobody was, nobody does.
            params = last.params if last else make_params(mechanism, {})
            recorded = burns_nearest.burn if burns_nearest else None
            burn = replace(recorded or Burn(0.0), share=mechanism.burn_share(params))
        weighing = Weighing.plan(self._uids.get(name, {}), now, like.limits, like.averaging, burn)
        return MadeWeighIn(mechanism, last, weighing)
