"""Desks for tests: a small one with every kind of contribution."""

from pathlib import Path

from weighbeam.mechanisms.novelty.desk.desk import NoveltyDesk
from weighbeam.mechanisms.novelty.desk.opening import open_novelty
from weighbeam.mechanisms.novelty.desk.settlement import settle_held, withdraw
from weighbeam.network.keys import Hotkey
from weighbeam.senses.ports.protocols import Senses

KEY = Hotkey.from_seed(bytes(range(32)))
OTTERS = "Sea otters hold hands while they sleep, so that the current does not carry one of them away."
DRIFT = "While sleeping, sea otters hold each other's hands so as not to drift apart."
BRIDGE = "A steel bridge is about thirty centimetres longer on a summer afternoon than in winter."
NOISE = "xqzv wkjh ppqr zzxv mnbq rrtk vvbn qwpz lkjq"
OTHER_NOISE = "grbl snrk flmp drzz klvn brsk tgrm wlpf hrnd"
THIRD_NOISE = "ghjk vbnm rewq yuio asdf zzxp lkjh mnvc qazw"


def make_desk(folder: Path, senses: Senses) -> NoveltyDesk:
    return open_novelty(str(folder / "novelty.db"), KEY, {"kin_similarity": 2.0}, senses=senses)


def fill_desk(folder: Path, senses: Senses) -> NoveltyDesk:
    return fill(make_desk(folder, senses))


def fill(desk: NoveltyDesk) -> NoveltyDesk:
    """Paid, a paraphrase, a duplicate, held, released, rejected, imported, withdrawn."""
    desk.submit("ada", OTTERS)
    desk.submit("bob", DRIFT)
    desk.submit("eve", OTTERS.upper())
    for noise in (NOISE, OTHER_NOISE, THIRD_NOISE):
        desk.submit("eve", noise)
    settle_held(desk, 5, "released", 2.0)
    settle_held(desk, 6, "rejected", 3.0)
    withdraw(desk, 2)
    return desk
