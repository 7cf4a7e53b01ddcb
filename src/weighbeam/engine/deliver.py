"""Do what waits in the outbox, beside the rounds and never on their way."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts import LOG, Alerts, tell_fault
from weighbeam.engine.clock import Clock
from weighbeam.engine.outbox import Item, finish, give_up, list_due, postpone
from weighbeam.store.database import Store

Delivery = Callable[[Item], Awaitable[None]]
POLL_SECONDS = 1.0
FAULT_SECONDS = 60.0
ITEM_SECONDS = 300.0
HOPELESS = frozenset({"unknown_round", "unknown_request", "no_delivery"})


async def keep_delivering(store: Store, clock: Clock, alerts: Alerts, deliveries: Mapping[str, Delivery]) -> None:
    """Until cancelled; no fault of an item, and none of the store, ends it."""
    while True:
        try:
            done = await deliver_due(store, clock, alerts, deliveries)
        except Exception as fault:
            tell_fault(fault)
            await asyncio.sleep(FAULT_SECONDS)
            continue
        if not done:
            await asyncio.sleep(POLL_SECONDS)


async def deliver_due(store: Store, clock: Clock, alerts: Alerts, deliveries: Mapping[str, Delivery]) -> int:
    """One turn: everything due is tried once; gives how many were."""
    items = await asyncio.to_thread(list_due, store, clock.now())
    for item in items:
        await _deliver(store, clock, alerts, deliveries, item)
    return len(items)


async def _deliver(store: Store, clock: Clock, alerts: Alerts, deliveries: Mapping[str, Delivery], item: Item) -> None:
    try:
        async with asyncio.timeout(ITEM_SECONDS):
            await _find(deliveries, item)(item)
    except Exception as fault:
        said = f"{fault.code}: {fault.message}" if isinstance(fault, WeighbeamError) else type(fault).__name__
        if isinstance(fault, WeighbeamError) and fault.code in HOPELESS:
            await asyncio.to_thread(give_up, store, item, said)
            LOG.info("%s of %s is not needed any more: %s", item.kind, item.ref, said)
            return
        again = await asyncio.to_thread(postpone, store, item, clock.now(), said)
        LOG.warning("%s of %s failed, %s: %s", item.kind, item.ref, "tried again later" if again else "given up", said)
        if not again:
            text = f"{item.kind} of {item.ref}: {said}"
            await asyncio.to_thread(alerts.tell, "outbox_given_up", "warning", text, item.mechanism)
    else:
        await asyncio.to_thread(finish, store, item)


def _find(deliveries: Mapping[str, Delivery], item: Item) -> Delivery:
    if item.kind not in deliveries:
        raise WeighbeamError("no_delivery", f"nothing here delivers {item.kind}", "update the validator")
    return deliveries[item.kind]
