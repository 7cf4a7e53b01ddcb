"""Views of a journal that know no mechanism show what the desk took in."""

from pathlib import Path

from mechanisms.novelty.desk.desks import BRIDGE, fill_desk
from mechanisms.novelty.desk.tiny_senses import TinySenses
from weighbeam.engine.views.attacks import select_attacks
from weighbeam.engine.views.changes import select_version
from weighbeam.mechanisms.novelty.desk.settlement import settle_held

DAY = 86_400.0


def test_duplicates_and_held_contributions_are_signs_of_attacks(tmp_path: Path) -> None:
    desk = fill_desk(tmp_path, TinySenses())
    with desk.store.read() as connection:
        now = connection.exec_driver_sql("SELECT max(at) FROM contributions").scalar_one()
    found = select_attacks(desk.store, now)
    assert (found.duplicates, found.held) == (1, 3)
    later = select_attacks(desk.store, now + 2 * DAY)
    assert (later.duplicates, later.held) == (0, 0)


def test_the_version_of_a_store_changes_with_contributions_and_settlements(tmp_path: Path) -> None:
    desk = fill_desk(tmp_path, TinySenses())
    seen = [select_version(desk.store)]
    desk.submit("ada", BRIDGE)
    seen.append(select_version(desk.store))
    settle_held(desk, 4, "released", 4.0)
    seen.append(select_version(desk.store))
    assert len(set(seen)) == 3
    assert select_version(desk.store) == seen[-1]
