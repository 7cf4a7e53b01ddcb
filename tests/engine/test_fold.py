"""The fold over a journal: computed again or taken as recorded, it leads to the same state."""

from collections.abc import Mapping

from lab.golden_journal import JOURNAL
from weighbeam.core.canonical import canonical_json
from weighbeam.engine.journal.access import view_journal
from weighbeam.engine.journal.fold import Fold, walk_entries
from weighbeam.engine.journal.state import ReplayState


def dump(reached: Mapping[str, ReplayState]) -> bytes:
    return canonical_json({name: state.as_json() for name, state in reached.items()})


def test_a_checkpoint_and_a_replay_reach_the_same_state() -> None:
    computed, recorded = Fold(), Fold()
    store = view_journal(str(JOURNAL))
    with store.read() as connection:
        for entry in walk_entries(connection):
            take = computed.take_round if entry.kind == "round" else computed.take_weigh_in
            assert (entry.broken_link, take(entry).find_fault(entry)) == (None, None), entry.ref
            recorded.take_outcome(entry)
            assert dump(computed.reached) == dump(recorded.reached), entry.ref
    store.close()
    assert len(computed.reached) == 4


def test_folds_that_start_from_one_state_leave_it_and_each_other_alone() -> None:
    store = view_journal(str(JOURNAL))
    with store.read() as connection:
        entries = [entry for entry in walk_entries(connection) if entry.kind == "round"]
        first = Fold()
        for entry in entries[:-4]:
            first.take_outcome(entry)
        before = dump(first.reached)
        second = Fold(first.reached)
        for entry in entries[-4:]:
            second.take_outcome(entry)
    store.close()
    assert dump(first.reached) == before != dump(second.reached)
