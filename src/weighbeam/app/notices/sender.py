"""Subprocess of the notifier: reads an address and a message from stdin, prints the outcome on stdout."""

import json
import logging
import sys
from typing import Any

TYPES = {"info": "info", "warning": "warning", "critical": "failure", "over": "success"}


class LastRecordHandler(logging.Handler):
    """Keeps the last log record."""

    said = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.said = record.getMessage()


def send(url: str, title: str, text: str, kind: str) -> dict[str, Any]:
    from apprise import Apprise

    last = LastRecordHandler(logging.WARNING)
    logging.getLogger("apprise").addHandler(last)
    service = Apprise.instantiate(url)
    if service is None:
        return {"ok": False, "said": "apprise cannot read the address"}
    taken = service.notify(title=title, body=text, notify_type=TYPES[kind], body_format="text")
    return {"ok": bool(taken), "said": "" if taken else last.said or "the service did not accept it"}


if __name__ == "__main__":
    given = json.load(sys.stdin)
    sys.stdout.write(json.dumps(send(**given)))
