"""A mechanism in 40 lines has all that the four have: checks, signed rounds, weights, replay, a lab and pages.

Nothing here names a mechanism that the source tree knows: one is the example package, one is made by `mechanism new`.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx2
import pytest

from mechanism.installed_package import install
from network.loopback import open_nonces, serve_app
from tests_root import ROOT
from weighbeam.app.identity import open_hotkey
from weighbeam.app.miner import load_handler
from weighbeam.app.service.access import open_access
from weighbeam.app.service.server import make_own_app
from weighbeam.app.settings.sources import LoadedSettings, load_settings
from weighbeam.app.validator.build import BuiltValidator, build_validator, open_store
from weighbeam.chain.local.administer import announce, register
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.running.runtime import keep_running
from weighbeam.engine.scoring import score_question
from weighbeam.engine.support.json_files import load_json
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.lab.attack.attack import MinerTrial, TrialSetting
from weighbeam.lab.attack.moves import repeat_best
from weighbeam.lab.simulate.population import Population, simulate
from weighbeam.lab.simulate.season import Season
from weighbeam.lab.simulate.world import FixedStrategy
from weighbeam.lab.simulate.worlds import make_world
from weighbeam.mechanism.checks import run_checks
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanism.scaffold import write_package
from weighbeam.network.keys import Hotkey
from weighbeam.network.miner_app import make_miner_app
from weighbeam.network.policy import PolicySettings, SenderPolicy, SenderStanding
from weighbeam.senses.local import LocalSenses
from weighbeam.service.http.threads import ThreadPools

VALIDATOR = Hotkey.from_uri("//Alice")
MINERS = ("good", "slow", "bad")
MAX_LINES = 40
SECONDS = 90.0
SETTINGS = """
[wallet]
uri = "//Alice"

[chain]
path = "chain.sqlite"

[store]
url = "sqlite:///journal.db"

[validator]
allow_private_addresses = true

[mechanisms.{name}]
mechid = 0
"""


@dataclass(frozen=True)
class Package:
    """A mechanism's package as its author has it."""

    name: str
    folder: Path

    @property
    def module(self) -> str:
        return self.name.replace("-", "_")

    @property
    def source(self) -> str:
        return (self.folder / "src" / self.module / "mechanism.py").read_text("utf-8")


@pytest.fixture(scope="module", params=["keyword-recall", "brand-new"])
def package(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Package]:
    """The example package, and one that was just generated and installed."""
    if request.param == "keyword-recall":
        yield Package(request.param, ROOT / "examples/mechanism_package")
        return
    folder = tmp_path_factory.mktemp("packages")
    write_package(request.param, folder)
    made = Package(request.param, folder / request.param)
    with install(made.folder / "src", {"brand-new": "brand_new.mechanism:BrandNewMechanism"}, "brand-new"):
        yield made


def test_it_is_one_short_module(package: Package) -> None:
    assert len(package.source.splitlines()) <= MAX_LINES
    modules = {path.name for path in (package.folder / "src" / package.module).glob("*.py")}
    assert modules == {"__init__.py", "mechanism.py", "miner.py"}


def test_it_passes_every_check(package: Package, senses: LocalSenses) -> None:
    found = run_checks(load_mechanism(package.name), senses)
    assert len(found) == 18
    assert [finding for finding in found if not finding.ok] == []


def test_its_question_is_scored_and_explained(package: Package, senses: LocalSenses) -> None:
    question = load_json(package.folder / "question.json")
    result = score_question(load_mechanism(package.name), question, senses, {})
    values = {row["hotkey"]: row["value"] for row in result.report()["answers"]}
    assert max(values.values()) == 1.0
    assert len(set(values.values())) > 1


def test_its_lab_world_pays_skill_and_can_be_attacked(package: Package) -> None:
    trial = simulate(Population(package.name, 6, {}), 1, Season(rounds=8))
    assert len(trial.honest) == 6
    copying = MinerTrial(package.name, lambda: FixedStrategy(repeat_best), 2)
    attacked = copying(1, TrialSetting(make_world, {}, Season(rounds=8)))
    assert len(attacked.attackers) == 2


@dataclass
class Subnet:
    loaded: LoadedSettings
    built: BuiltValidator
    uids: dict[str, int]

    def run(self, reached: Callable[[], bool]) -> None:
        async def bounded() -> None:
            running = asyncio.create_task(keep_running(self.built.runtime, self.built.runners))
            try:
                async with asyncio.timeout(SECONDS):
                    while not reached():
                        await asyncio.wait([running], timeout=0.05)
                        if running.done():
                            await running
            finally:
                running.cancel()
                await asyncio.wait([running])

        asyncio.run(bounded())


@pytest.fixture(scope="module")
def subnet(package: Package, senses: LocalSenses, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subnet]:
    """A validator built from settings, and three miners of the package behind real servers, on a local chain."""
    folder = tmp_path_factory.mktemp(package.module)
    parameters = SubnetParameters(tempo=20, rate_limit=5, max_validators=1)
    file = ChainFile.create(folder / "chain.sqlite", parameters, speed=600)
    register(file, VALIDATOR.address, stake=5000 * 10**9)
    (folder / "validator.toml").write_text(SETTINGS.format(name=package.name), "utf-8")
    answer = load_handler(package.name, f"{package.module}.miner:answer", senses, folder)
    with ExitStack() as stack:
        for name in MINERS:
            hotkey, policy = Hotkey.from_uri(f"//{name}"), SenderPolicy(PolicySettings(per_minute=60000, burst=1000))
            policy.update({VALIDATOR.address: SenderStanding(True, 10**12)})

            async def handle(task: dict[str, Any], seconds: float, name: str = name) -> Any:
                reply = await answer(task, seconds)
                return {"good": reply, "slow": {"text": " ".join(reply["text"].split() * 9)}, "bad": ["no"]}[name]

            app = make_miner_app(hotkey, {package.name: handle}, open_nonces(folder / f"{name}.sqlite"), policy)
            register(file, hotkey.address)
            announce(file, hotkey.address, stack.enter_context(serve_app(app)))
        time.sleep(0.5)
        loaded = load_settings(folder / "validator.toml", {})
        yield Subnet(loaded, build_validator(loaded), {name: number + 1 for number, name in enumerate(MINERS)})


def test_it_plays_signed_rounds_gets_weights_confirmed_and_replays(
    package: Package, subnet: Subnet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weighbeam.engine.running.runtime.POLL_SECONDS", 0.1)
    runtime, (runner,) = subnet.built.runtime, subnet.built.runners
    pulses = runtime.health.pulses
    subnet.run(lambda: bool(pulses) and pulses[package.name].rounds >= 3 and _is_weighed(pulses[package.name]))
    row = dict(asyncio.run(runner.weigh_in_context.chain.stored(VALIDATOR.address)).row)
    assert row[subnet.uids["good"]] == 65535
    assert subnet.uids["bad"] not in row
    assert "confirmed" in {intent.state for intent in Ledger(runtime.store, package.name).rows()}
    replayed = list(replay(runtime.store, load_mechanism))
    assert len(replayed) >= 4
    assert [result.fault for result in replayed if result.fault] == []


def _is_weighed(pulse: Any) -> bool:
    return pulse.last_weigh_in == "confirmed"


def test_it_has_pages(package: Package, subnet: Subnet) -> None:
    loaded, pools = subnet.loaded, ThreadPools()
    store, hotkey = open_store(loaded), open_hotkey(loaded)
    access = open_access(loaded, store, hotkey.address, loaded.settings.service.listen, pools)
    with serve_app(make_own_app(access, store, hotkey)) as endpoint:
        page = httpx2.get(f"http://{endpoint}/mechanisms/{package.name}", timeout=30)
        overview = httpx2.get(f"http://{endpoint}/", timeout=30)
        schema = httpx2.get(f"http://{endpoint}/openapi.json", timeout=30).json()
    pools.close()
    store.close()
    assert page.status_code == overview.status_code == 200
    assert all(f"{runner.weigh_in_context.params.alpha}" in page.text for runner in subnet.built.runners)
    assert Hotkey.from_uri("//good").address[:6] in page.text
    assert package.name in overview.text
    assert f"/v1/{package.name}/requests" in schema["paths"]


def test_its_modules_import_only_the_door(package: Package) -> None:
    imported = [line for line in package.source.splitlines() if "import" in line and "weighbeam" in line]
    assert [line.split()[1] for line in imported] == ["weighbeam"]
    assert import_module(f"{package.module}.mechanism")
