"""Open the reading API as settings say."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from fastapi import FastAPI

from weighbeam.mechanisms.contract import Mechanism, Params
from weighbeam.mechanisms.make_params import make_params
from weighbeam.mechanisms.registry import load_mechanism
from weighbeam.network.keys import Hotkey
from weighbeam.operate.deliveries import open_place
from weighbeam.operate.gates import Entrance
from weighbeam.service.reader import Reader, Shown
from weighbeam.service.reading import add_reading
from weighbeam.settings.load import Loaded
from weighbeam.settings.origin import list_settings
from weighbeam.store.database import Store


def open_reading(
    app: FastAPI,
    entrance: Entrance,
    store: Store,
    hotkey: Hotkey,
    now: Callable[[], float],
    health: Callable[[], tuple[int, dict[str, Any]]],
    runs: Mapping[str, tuple[Mechanism, Params]] | None = None,
) -> Reader:
    """The routes under /v1 that read; gives what answers them, for pages of the same app."""
    loaded = entrance.loaded
    shown = Shown(
        store=store,
        mechanisms=load_runs(loaded) if runs is None else runs,
        averaging=loaded.averaging(),
        artifacts=open_place(loaded),
        hotkey=hotkey,
        now=now,
        settings=lambda: [asdict(line) for line in list_settings(loaded)],
        health=health,
    )
    return add_reading(app, entrance.make_gate(), shown, entrance.pools, loaded.settings.service.streams)


def load_runs(loaded: Loaded) -> Mapping[str, tuple[Mechanism, Params]]:
    """The mechanisms of the settings, with their parameters."""
    found = {}
    for name, section in loaded.settings.mechanisms.items():
        mechanism = load_mechanism(name)
        found[name] = mechanism, make_params(mechanism, section.params)
    return found
