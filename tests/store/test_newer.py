"""A journal that a newer version wrote is refused and left as it is: going back needs the backup made before."""

from pathlib import Path

import pytest

from weighbeam.core.errors import WeighbeamError
from weighbeam.store.database import Store


def test_an_older_version_refuses_a_newer_journal_and_changes_nothing(tmp_path: Path) -> None:
    place = tmp_path / "journal.sqlite"
    store = Store(f"sqlite:///{place}")
    with store.write() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    store.close()
    before = place.read_bytes()
    with pytest.raises(WeighbeamError) as refused:
        Store(f"sqlite:///{place}")
    assert refused.value.code == "store_unusable"
    assert "newer" in refused.value.remedy
    assert place.read_bytes() == before
