"""What registries say, and who says it: the two formats of RDAP that an age needs (RFC 9083, RFC 9224)."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any


def read_json(body: bytes) -> Any:
    """The content, or None if it is no JSON that can be read."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def find_registration(content: Any) -> float | None:
    """When a domain was registered, in seconds since 1970; None if the answer does not say.

    >>> find_registration({"events": [{"eventAction": "Registration", "eventDate": "1970-01-02T00:00:00Z"}]})
    86400.0
    """
    events = content.get("events") if isinstance(content, dict) else None
    for event in events if isinstance(events, list) else []:
        action = event.get("eventAction") if isinstance(event, dict) else None
        if isinstance(action, str) and action.strip().lower() == "registration":
            return _read_moment(event.get("eventDate"))
    return None


def read_bootstrap(content: Any) -> Mapping[str, str]:
    """The RDAP server of each top-level domain, https only.

    >>> read_bootstrap({"services": [[["org", "ngo"], ["http://a.example/", "https://a.example/rdap"]]]})
    {'org': 'https://a.example/rdap/', 'ngo': 'https://a.example/rdap/'}
    """
    services = content.get("services") if isinstance(content, dict) else None
    servers: dict[str, str] = {}
    for service in services if isinstance(services, list) else []:
        try:
            suffixes, urls = service
            server = next(url for url in urls if url.startswith("https://"))
            servers |= {suffix.lower(): server.rstrip("/") + "/" for suffix in suffixes}
        except (TypeError, ValueError, AttributeError, StopIteration):
            continue
    return servers


def _read_moment(text: Any) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
