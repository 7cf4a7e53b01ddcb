"""The reading API (docs/read-api.md): everything the store says, for whoever may read."""

from fastapi import FastAPI

from weighbeam.service.events import add_events
from weighbeam.service.fresh import Fresh
from weighbeam.service.front import Front
from weighbeam.service.gate import Gate
from weighbeam.service.pool import Pools
from weighbeam.service.read_mechanisms import add_mechanisms
from weighbeam.service.read_miners import add_miners
from weighbeam.service.read_rounds import add_answers, add_rounds
from weighbeam.service.read_trouble import add_trouble
from weighbeam.service.read_weights import add_weights
from weighbeam.service.read_whole import add_whole
from weighbeam.service.reader import CODES, Reader, Shown
from weighbeam.service.streams import Streams

MOST_BODY = 1 << 10


def add_reading(app: FastAPI, gate: Gate, shown: Shown, pools: Pools, streams: int) -> Reader:
    """The routes, with so many live streams at most; gives what answers them, for pages of the same app."""
    front = Front(
        gate, MOST_BODY, CODES, pools.reading.run, pools.proofs.run, pools.tokens.run, pools.reading.is_crowded
    )
    reader = Reader(front, shown, Fresh(shown.store))
    for add in (add_whole, add_rounds, add_answers, add_mechanisms, add_miners, add_weights, add_trouble):
        add(app, reader)
    add_events(app, front, Streams(shown.store, streams, pools.watch.run))
    return reader
