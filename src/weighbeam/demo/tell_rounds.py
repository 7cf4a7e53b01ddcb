"""What a validator does after each round, done once at the end of a demo that is kept: alerts, heatmaps, narratives."""

from functools import partial

from weighbeam.demo.subnet import Subnet
from weighbeam.engine.aftermath import raise_alerts
from weighbeam.engine.alerts import Alerts
from weighbeam.engine.deliver import Delivery, deliver_due
from weighbeam.engine.exchange import Exchange
from weighbeam.engine.reading.rounds import list_rounds
from weighbeam.engine.story import Storyteller
from weighbeam.pictures.apart import draw_apart
from weighbeam.store.artifacts import open_artifacts

MECHANISM = "inference"
TURNS = 10


async def tell_rounds(subnet: Subnet) -> str:
    """Empty the first validator's outbox; gives the newest round that has a story."""
    post = subnet.posts[MECHANISM][0]
    store, clock = post.bench.journal.store, post.clock
    alerts = Alerts(store, clock.now)
    place = open_artifacts(str(subnet.folder / "artifacts"))
    story = Storyteller(store, clock, {MECHANISM: post.bench.mechanism}, place, draw_apart)
    exchange = Exchange(store, clock, alerts, post.scale.own_hotkey)
    deliveries: dict[str, Delivery] = {
        "alerts": partial(raise_alerts, alerts),
        "copies": exchange.push_copies,
        "story": story.tell,
    }
    for _ in range(TURNS):
        if not await deliver_due(store, clock, alerts, deliveries):
            break
    return list_rounds(store, MECHANISM, most=1).items[0].id
