"""Choose the miners judged least often, ties broken by the round's seed (weigh-in.md § 9)."""

from collections.abc import Mapping, Sequence

from weighbeam.core.canonical import seeded_digest
from weighbeam.mechanism.records import Group, Seed
from weighbeam.mechanisms.inference.params import InferenceParams


def choose_fewest(
    counts: Mapping[str, int], miners: Sequence[str], seed: Seed, wanted: Sequence[str], params: InferenceParams
) -> Group:
    """The `max_miners` with the fewest evaluations; nobody if there are fewer than `min_miners`.

    >>> choose_fewest({"a": 5}, ["a", "b", "c"], "s", (), InferenceParams(min_miners=2, max_miners=2)).members
    ('c', 'b')
    """
    candidates = sorted(set(miners))
    known, once = set(candidates), tuple(dict.fromkeys(wanted))
    unknown = tuple(hotkey for hotkey in once if hotkey not in known)
    if len(candidates) < params.min_miners:
        return Group((), None, 0, unknown=unknown)
    ordered = sorted(candidates, key=lambda hotkey: (counts.get(hotkey, 0), seeded_digest(seed, hotkey)))
    members = tuple(ordered[: params.max_miners])
    extra = tuple(hotkey for hotkey in once if hotkey in known and hotkey not in members)
    return Group(members, extra=extra, unknown=unknown)
