"""Only what a round changed is written, and the tables then hold what writing everything would have left."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete

from weighbeam.engine.lay_out import read_seen, read_standings, write_seen, write_standings
from weighbeam.engine.seen import Seen
from weighbeam.mechanisms.contract import Standing
from weighbeam.store import tables
from weighbeam.store.database import Store

VALUES = st.none() | st.sampled_from([0.0, -0.0, 1.0, 2.5])
DETAILS = st.sampled_from([{}, {"count": 1}, {"count": 1.0}, {"count": True}])
STANDINGS = st.lists(st.builds(Standing, st.sampled_from("abcdef"), VALUES, DETAILS), unique_by=lambda s: s.hotkey)
SEEN = st.dictionaries(st.sampled_from("abcdef"), st.builds(Seen, st.sampled_from([1.0, 2.0]), VALUES))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STANDINGS, STANDINGS)
def test_standings_after_a_round_are_those_it_led_to(
    shared_store: Store, first: list[Standing], then: list[Standing]
) -> None:
    with shared_store.write() as connection:
        connection.execute(delete(tables.standings))
        write_standings(connection, "other", [Standing("a", 7.0)])
        write_standings(connection, "chunking", first)
        write_standings(connection, "chunking", then, read_standings(connection, "chunking"))
        write_standings(connection, "whole", then)
        assert repr(read_standings(connection, "chunking")) == repr(read_standings(connection, "whole"))
        assert read_standings(connection, "other") == (Standing("a", 7.0),)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(SEEN, SEEN)
def test_who_was_seen_after_a_round(shared_store: Store, first: dict[str, Seen], then: dict[str, Seen]) -> None:
    with shared_store.write() as connection:
        connection.execute(delete(tables.miners))
        write_seen(connection, "chunking", first)
        write_seen(connection, "chunking", then, read_seen(connection, "chunking"))
        assert read_seen(connection, "chunking") == then
