"""Send traces to an OpenTelemetry collector, where the standard environment variables name one; off by default.

`OTEL_EXPORTER_OTLP_ENDPOINT` (or `…_TRACES_ENDPOINT`) switches it on; `OTEL_SDK_DISABLED=true` and
`OTEL_TRACES_EXPORTER=none` switch it off. Only our own spans are exported: the provider is not the process-wide one, so
no library adds spans that hold texts or addresses. A thread sends; a collector that is slow or gone costs spans only.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from weighbeam import __version__
from weighbeam.core.extras import explain_missing
from weighbeam.engine.alerts.alerts import LOG
from weighbeam.engine.support.spans import set_tracer

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
SERVICE = "weighbeam"
LAST_MILLISECONDS = 3000
"""How long the last spans may take when the process ends."""


def is_wanted(environment: Mapping[str, str]) -> bool:
    """
    >>> is_wanted({}), is_wanted({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"})
    (False, True)
    >>> is_wanted({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318", "OTEL_TRACES_EXPORTER": "none"})
    False
    """
    disabled = environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    kind = environment.get("OTEL_TRACES_EXPORTER", "otlp").strip().lower()
    return not disabled and kind == "otlp" and any(environment.get(name, "").strip() for name in ENDPOINTS)


@contextmanager
def export_traces(environment: Mapping[str, str] = os.environ) -> Iterator[None]:
    """Export the spans of the work inside, if that is wanted. What keeps them from it is a warning, never an error."""
    provider = _open_provider(environment) if is_wanted(environment) else None
    if provider is None:
        yield
        return
    tracer = provider.get_tracer(SERVICE, __version__)
    set_tracer(lambda name: tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False))
    LOG.info("traces are exported by OpenTelemetry")
    try:
        yield
    finally:
        set_tracer(None)
        with suppress(Exception):
            provider.force_flush(LAST_MILLISECONDS)
            provider.shutdown()


def _open_provider(environment: Mapping[str, str]) -> "TracerProvider | None":
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        named = {"service.name": environment.get("OTEL_SERVICE_NAME") or SERVICE, "service.version": __version__}
        provider = TracerProvider(resource=Resource.create(named), shutdown_on_exit=False)
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    except Exception as fault:
        missing = explain_missing(fault)
        told = type(fault).__name__ if missing is None else missing.message
        remedy = "correct the variables OTEL_…" if missing is None else missing.remedy
        LOG.warning("traces are not exported: %s | remedy: %s", told, remedy)
        return None
    return provider
