"""Optional packages: one that is not installed is one error with the line to type, never a traceback."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from weighbeam.core.errors import WeighbeamError

SERVING = ("validator", "service")
STORING = ("validator", "service", "lab")
CHARTING = ("charts", "validator", "service", "lab")
EXTRAS = {
    "alembic": STORING,
    "altair": CHARTING,
    "bittensor_core": STORING,
    "fastapi": SERVING,
    "jinja2": CHARTING,
    "opentelemetry": ("otel",),
    "prometheus_client": SERVING,
    "sqlalchemy": STORING,
    "starlette": SERVING,
    "structlog": SERVING,
    "uvicorn": SERVING,
    "vl_convert": CHARTING,
}
"""Modules that the core does without, each with the extras that bring it; the first unless another is wanted."""


def explain_missing(fault: BaseException | None, wanted: str = "") -> WeighbeamError | None:
    """The error for an import of an optional package that is not installed; None for any other fault.

    >>> explain_missing(ModuleNotFoundError(name="sqlalchemy.orm"), "lab").remedy
    "pip install 'weighbeam[lab]'"
    >>> explain_missing(ModuleNotFoundError(name="weighbeam.nothing"))
    """
    if not isinstance(fault, ModuleNotFoundError):
        return None
    module = (fault.name or "").partition(".")[0]
    extras = EXTRAS.get(module)
    if extras is None:
        return None
    extra = wanted if wanted in extras else extras[0]
    told = f"{module} is not installed: it is part of the extra {extra}"
    return WeighbeamError("missing_extra", told, f"pip install 'weighbeam[{extra}]'")


@contextmanager
def explain_extras(wanted: str = "") -> Iterator[None]:
    """Raise `missing_extra` for a package that is not installed; it decorates a function, too."""
    try:
        yield
    except ModuleNotFoundError as fault:
        explained = explain_missing(fault, wanted)
        if explained is None:
            raise
        raise explained from fault


def require_extra(extra: str) -> None:
    """Raise `missing_extra` before work that could not be finished without a package of this extra."""
    with explain_extras(extra):
        for module, extras in EXTRAS.items():
            if extra in extras and find_spec(module) is None:
                raise ModuleNotFoundError(f"No module named {module!r}", name=module)
