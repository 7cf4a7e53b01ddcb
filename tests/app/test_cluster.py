"""The cluster from settings: what is refused, what the doctor says, and what becomes an alert and ends one."""

import logging
import subprocess
import sys
import time
from pathlib import Path

import pytest

from senses.adapters.cluster.nodes import find_broker, need_ray
from weighbeam.app.senses import open_cluster, report_cluster
from weighbeam.app.settings.sources import LoadedSettings, load_settings
from weighbeam.app.validator.checks import diagnose_settings
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.alerts.notices import list_notices
from weighbeam.senses.adapters.cluster.messages import PoolStatus
from weighbeam.senses.adapters.cluster.settings import make_lost_error
from weighbeam.store.database import Store

need_ray()


def load(folder: Path, cluster: str) -> LoadedSettings:
    file = folder / "weighbeam.toml"
    file.write_text(f"[cluster]\n{cluster}\n")
    return load_settings(file, {})


def test_there_is_none_unless_an_address_is_set(tmp_path) -> None:
    assert open_cluster(load(tmp_path, "")) is None
    cluster = open_cluster(load(tmp_path, 'address = "head:6379"\nmin_workers = 12'))
    assert cluster is not None
    assert (cluster.settings.address, cluster.settings.bounds.max_workers) == ("head:6379", 12)
    assert find_broker(cluster) is None, "nothing is started before it is used"


@pytest.mark.parametrize(
    "given", ['address = "head"', 'address = "a:1"\nmin_workers = 0', 'address = "ray://head:10001"']
)
def test_what_cannot_be_is_refused(tmp_path, given: str) -> None:
    with pytest.raises(WeighbeamError) as fault:
        open_cluster(load(tmp_path, given))
    assert fault.value.code == "bad_config"


def test_the_doctor_tells_that_nobody_is_there(tmp_path) -> None:
    load(tmp_path, 'address = "127.0.0.1:9"\npatience_seconds = 30')
    (found,) = (one for one in diagnose_settings(tmp_path / "weighbeam.toml", {}) if one.name == "cluster")
    assert found.state == "fault"
    assert "no Ray at '127.0.0.1:9'" in found.detail
    assert "a Ray node has to run on this machine" in found.remedy


def test_what_is_lost_is_an_alert_until_it_is_back(tmp_path, caplog) -> None:
    store = Store(f"sqlite:///{tmp_path / 'journal.db'}")
    cluster = open_cluster(load(tmp_path, 'address = "127.0.0.1:9"'))
    assert cluster is not None
    cluster.watch.lose("embedder", make_lost_error("no answer"))
    with caplog.at_level(logging.INFO):
        report_cluster(cluster, Alerts(store, time.time))
        cluster.watch.lose("entailment", make_lost_error("no answer"))
        cluster.watch.note({"embedder": PoolStatus(differs="on b another"), "entailment": PoolStatus(ready=1)})
        assert [one.code for one in list_notices(store)] == ["worker_differs", "cluster_lost"]
        cluster.watch.note({"embedder": PoolStatus(ready=1), "entailment": PoolStatus(ready=1)})
    assert list_notices(store) == ()
    assert "cluster_lost is over: the cluster works again" in caplog.text
    store.close()


def test_a_validator_never_loads_ray() -> None:
    modules = "weighbeam.app.validator.run, weighbeam.app.senses, weighbeam.senses.adapters.cluster.senses"
    check = f"import sys, {modules}; sys.exit(any(name.partition('.')[0] == 'ray' for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", check], timeout=60).returncode == 0
