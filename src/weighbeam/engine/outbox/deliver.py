"""Deliver the jobs of the outbox, concurrently with rounds and never blocking them."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import LOG, Alerts, log_fault
from weighbeam.engine.outbox.queue import OutboxItem, finish_item, give_up, hold_back, list_due, list_in_order, postpone
from weighbeam.engine.support.clock import EngineClock
from weighbeam.store.database import Store

Delivery = Callable[[OutboxItem], Awaitable[None]]
POLL_SECONDS = 1.0
FAULT_SECONDS = 60.0
ITEM_SECONDS = 300.0
IN_ORDER = {"notice": True, "experiment": False}
"""Kinds, up to a colon, of which nothing is done before what was put in earlier; True if a new one tries all again."""
HOPELESS = frozenset({"unknown_round", "unknown_request", "no_delivery"})


async def keep_delivering(store: Store, clock: EngineClock, alerts: Alerts, deliveries: Mapping[str, Delivery]) -> None:
    """Until cancelled; no fault of an item, and none of the store, ends it. Each kind has a lane of its own, so that a
    slow one holds up no other."""
    async with asyncio.TaskGroup() as group:
        for kind in (*deliveries, None):
            group.create_task(_keep_lane(store, clock, alerts, deliveries, kind))


async def _keep_lane(
    store: Store, clock: EngineClock, alerts: Alerts, deliveries: Mapping[str, Delivery], kind: str | None
) -> None:
    while True:
        try:
            done = await _deliver_lane(store, clock, alerts, deliveries, kind)
        except Exception as fault:
            log_fault(fault)
            await asyncio.sleep(FAULT_SECONDS)
            continue
        if not done:
            await asyncio.sleep(POLL_SECONDS)


async def deliver_due(store: Store, clock: EngineClock, alerts: Alerts, deliveries: Mapping[str, Delivery]) -> int:
    """One turn: everything due is tried once; gives how many were."""
    lanes = [_deliver_lane(store, clock, alerts, deliveries, kind) for kind in (*deliveries, None)]
    return sum(await asyncio.gather(*lanes))


async def _deliver_lane(
    store: Store, clock: EngineClock, alerts: Alerts, deliveries: Mapping[str, Delivery], kind: str | None
) -> int:
    """Deliver due items of one kind; None stands for kinds without a delivery here."""
    if kind is not None and kind.partition(":")[0] in IN_ORDER:
        return await _deliver_in_order(store, clock, alerts, deliveries, kind)
    kinds, others = ([kind], False) if kind is not None else (list(deliveries), True)
    items = await asyncio.to_thread(list_due, store, clock.now(), kinds, others)
    for item in items:
        await _deliver(store, clock, alerts, deliveries, item)
    return len(items)


async def _deliver_in_order(
    store: Store, clock: EngineClock, alerts: Alerts, deliveries: Mapping[str, Delivery], kind: str
) -> int:
    """From the oldest on, as far as it works; what comes after a failure is postponed with it."""
    eager = IN_ORDER[kind.partition(":")[0]]
    items = await asyncio.to_thread(list_in_order, store, clock.now(), kind, eager)
    for place, item in enumerate(items):
        if not await _deliver(store, clock, alerts, deliveries, item):
            await asyncio.to_thread(hold_back, store, items[place + 1 :], item, clock.now())
            break
    return len(items)


async def _deliver(
    store: Store, clock: EngineClock, alerts: Alerts, deliveries: Mapping[str, Delivery], item: OutboxItem
) -> bool:
    """False if it failed and is tried again."""
    try:
        async with asyncio.timeout(ITEM_SECONDS):
            await _find(deliveries, item)(item)
    except Exception as fault:
        said = f"{fault.code}: {fault.message}" if isinstance(fault, WeighbeamError) else type(fault).__name__
        if isinstance(fault, WeighbeamError) and fault.code in HOPELESS:
            await asyncio.to_thread(give_up, store, item, said)
            LOG.info("%s of %s is no longer needed: %s", item.kind, item.ref, said)
            return True
        again = await asyncio.to_thread(postpone, store, item, clock.now(), said)
        cure = f" | remedy: {fault.remedy}" if isinstance(fault, WeighbeamError) and fault.remedy else ""
        then = "tried again later" if again else "given up"
        LOG.warning("%s of %s failed, %s: %s%s", item.kind, item.ref, then, said, cure)
        if not again:
            text = f"{item.kind} of {item.ref}: {said}"
            await asyncio.to_thread(alerts.tell, "outbox_given_up", "warning", text, item.mechanism or None)
        return not again
    await asyncio.to_thread(finish_item, store, item)
    return True


def _find(deliveries: Mapping[str, Delivery], item: OutboxItem) -> Delivery:
    if item.kind not in deliveries:
        raise WeighbeamError("no_delivery", f"this validator cannot deliver {item.kind}", "update the validator")
    return deliveries[item.kind]
