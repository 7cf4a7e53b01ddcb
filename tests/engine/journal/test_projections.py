"""Only what a round changed is written, and the tables then hold what writing everything would have left."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete

from weighbeam.engine.journal.projections import select_last_seen, select_standings, update_last_seen, update_standings
from weighbeam.engine.rules.last_seen import LastSeen
from weighbeam.mechanism.records import Standing
from weighbeam.store import tables
from weighbeam.store.database import Store

VALUES = st.none() | st.sampled_from([0.0, -0.0, 1.0, 2.5])
DETAILS = st.sampled_from([{}, {"count": 1}, {"count": 1.0}, {"count": True}])
STANDINGS = st.lists(st.builds(Standing, st.sampled_from("abcdef"), VALUES, DETAILS), unique_by=lambda s: s.hotkey)
SEEN = st.dictionaries(st.sampled_from("abcdef"), st.builds(LastSeen, st.sampled_from([1.0, 2.0]), VALUES))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STANDINGS, STANDINGS)
def test_standings_after_a_round_are_those_it_led_to(
    shared_store: Store, first: list[Standing], then: list[Standing]
) -> None:
    with shared_store.write() as connection:
        connection.execute(delete(tables.standings))
        update_standings(connection, "other", [Standing("a", 7.0)])
        update_standings(connection, "chunking", first)
        update_standings(connection, "chunking", then, select_standings(connection, "chunking"))
        update_standings(connection, "whole", then)
        assert repr(select_standings(connection, "chunking")) == repr(select_standings(connection, "whole"))
        assert select_standings(connection, "other") == (Standing("a", 7.0),)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SEEN, SEEN)
def test_who_was_seen_after_a_round(shared_store: Store, first: dict[str, LastSeen], then: dict[str, LastSeen]) -> None:
    with shared_store.write() as connection:
        connection.execute(delete(tables.miners))
        update_last_seen(connection, "chunking", first)
        update_last_seen(connection, "chunking", then, select_last_seen(connection, "chunking"))
        assert select_last_seen(connection, "chunking") == then
