"""Write deploy/grafana/weighbeam.json: one panel per question an operator has."""

import json
from pathlib import Path
from typing import Any

BOARD = Path(__file__).parent / "grafana" / "weighbeam.json"
SOURCE = {"type": "prometheus", "uid": "prometheus"}
WIDTH, HEIGHT = 12, 8
PANELS: tuple[tuple[str, str, str, str], ...] = (
    ("Blocks since our weights", "weighbeam_blocks_since_update", "{{mechanism}}", "short"),
    ("Seconds since progress", "weighbeam_seconds_since_progress", "{{mechanism}}", "s"),
    ("Rounds an hour", "increase(weighbeam_rounds_total[1h])", "{{mechanism}}", "short"),
    ("Rounds discarded an hour", "increase(weighbeam_rounds_discarded_total[1h])", "{{mechanism}}", "short"),
    ("Weigh-ins a day", "increase(weighbeam_weigh_ins_total[1d])", "{{mechanism}}", "short"),
    (
        "Alerts an hour",
        "(weighbeam_alerts_total unless weighbeam_alerts_total offset 1h) or increase(weighbeam_alerts_total[1h])",
        "{{level}}: {{code}}",
        "short",
    ),
    ("What is wrong now", "weighbeam_notices_open", "{{level}}", "short"),
    ("Organic requests waiting", "weighbeam_requests_waiting", "{{mechanism}}", "short"),
    ("Waiting to be done or sent", "weighbeam_outbox_waiting", "{{kind}}", "short"),
    ("Live streams", "weighbeam_http_streams_open", "streams", "short"),
    (
        "Requests a second",
        "sum by (route, status) (rate(weighbeam_http_requests_total[5m]))",
        "{{status}} {{route}}",
        "reqps",
    ),
    (
        "Time of the slowest twentieth",
        "histogram_quantile(0.95, sum by (le, route) (rate(weighbeam_http_request_seconds_bucket[5m])))",
        "{{route}}",
        "s",
    ),
)


def make_board() -> dict[str, Any]:
    return {
        "uid": "weighbeam",
        "title": "Weighbeam",
        "schemaVersion": 39,
        "refresh": "30s",
        "time": {"from": "now-24h", "to": "now"},
        "panels": [make_panel(number, *panel) for number, panel in enumerate(PANELS)],
    }


def make_panel(number: int, title: str, query: str, legend: str, unit: str) -> dict[str, Any]:
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": title,
        "datasource": SOURCE,
        "gridPos": {"x": WIDTH * (number % 2), "y": HEIGHT * (number // 2), "w": WIDTH, "h": HEIGHT},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "targets": [{"refId": "A", "datasource": SOURCE, "expr": query, "legendFormat": legend}],
    }


if __name__ == "__main__":
    BOARD.write_text(json.dumps(make_board(), indent=2) + "\n", "utf-8")
