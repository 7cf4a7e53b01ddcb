"""Which alerts still hold: raised in the last weigh-in interval, and not followed by one that says it is over."""

from sqlalchemy import Connection, select

from weighbeam.engine.alerts import Alert
from weighbeam.engine.weigh_in.constants import WEIGHTS_INTERVAL_SECONDS
from weighbeam.store import tables

ALERTS = tables.alerts.c
OPEN_SECONDS = WEIGHTS_INTERVAL_SECONDS * 1.25
MOST_ALERTS = 1000


def find_open(connection: Connection, now: float) -> tuple[Alert, ...]:
    """Newest first, one per code and mechanism; an info alert closes those of its code before it."""
    columns = (ALERTS.at, ALERTS.mechanism, ALERTS.code, ALERTS.level, ALERTS.text)
    query = select(*columns).where(ALERTS.at > now - OPEN_SECONDS, ALERTS.at <= now)
    newest: dict[tuple[str | None, str], Alert] = {}
    for row in connection.execute(query.order_by(ALERTS.at.desc(), ALERTS.id.desc()).limit(MOST_ALERTS)):
        alert = Alert(*row)
        newest.setdefault((alert.mechanism, alert.code), alert)
    return tuple(alert for alert in newest.values() if alert.level != "info")
