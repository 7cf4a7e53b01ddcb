"""Check what is installed, reachable and intact on this machine, with a remedy for what is not."""

import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

import numpy as np

from weighbeam.charts.drawing import draw_in_process
from weighbeam.charts.heatmap import Heatmap
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.extras import require_extra
from weighbeam.mechanism.params import make_params
from weighbeam.mechanism.registry import list_broken, list_mechanisms, load_mechanism
from weighbeam.senses.adapters import model_files
from weighbeam.senses.adapters.embedding.packed_graph import multiplies_exactly
from weighbeam.senses.adapters.model_files import cache_folder, is_intact
from weighbeam.senses.local import load_embedder, load_entailment

State = Literal["ok", "missing", "fault"]
LIBRARIES = ("numpy", "onnxruntime", "tokenizers", "safetensors", "pydantic", "typer", "rich")
EXTRAS = {
    "alerts": ("apprise",),
    "bittensor": ("bittensor",),
    "charts": ("altair", "jinja2", "vl-convert-python"),
    "chunkers": ("semantic-text-splitter", "chonkie", "semchunk", "langchain-text-splitters"),
    "corpus": ("numkong",),
    "lab": ("alembic", "bittensor-core", "sqlalchemy"),
    "punkt": ("nltk",),
    "openai": ("openai",),
    "otel": ("opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http"),
    "parquet": ("pyarrow",),
    "postgres": ("psycopg",),
    "ray": ("ray",),
    "s3": ("obstore",),
    "service": ("fastapi", "prometheus-client", "structlog", "uvicorn"),
    "validator": ("fastapi", "prometheus-client", "structlog", "uvicorn"),
    "wandb": ("wandb",),
    "torch": ("torch", "sentence-transformers"),
}
PLAIN = ("The door is open.", "The door is closed.")
PROBE = ("The beam balances.", "The scale is even.", "Penguins cannot fly.")


@dataclass(frozen=True, slots=True)
class Symptom:
    """One thing looked at. `missing` is optional and absent; `fault` keeps weighbeam from working."""

    name: str
    state: State
    detail: str
    remedy: str = ""


def diagnose() -> Iterator[Symptom]:
    """Every check, one after the other; none stops another."""
    yield _check_python()
    for library in LIBRARIES:
        yield _check_library(library)
    yield _guard("weights", "fault", model_files.check_minilm)
    yield _guard("model cache", "fault", _check_cache)
    yield _guard("embedder", "fault", _check_embedder)
    yield _guard("entailment", "fault", _check_entailment)
    yield _check_pictures()
    yield _guard("embedder minilm-int8", "fault", _check_arithmetic)
    yield _guard("splitter punkt", "missing", _check_punkt)
    for extra, packages in EXTRAS.items():
        yield _check_extra(extra, packages)
    for name in list_mechanisms():
        yield _guard(f"mechanism {name}", "fault", partial(_check_mechanism, name))
    for name, fault in list_broken().items():
        if fault.code == "duplicate_mechanism":
            yield Symptom(f"mechanism {name}", "fault", fault.message, fault.remedy)


def _guard(name: str, bad: State, check: Callable[[], str]) -> Symptom:
    try:
        return Symptom(name, "ok", check())
    except WeighbeamError as fault:
        return Symptom(name, bad, fault.message, fault.remedy)
    except Exception as fault:
        return Symptom(name, bad, f"{type(fault).__name__}: {fault}", "reinstall weighbeam")


def _check_python() -> Symptom:
    import unicodedata

    detail = f"{platform.python_version()}, Unicode {unicodedata.unidata_version}, {os.cpu_count()} cores"
    return Symptom("python", "ok", detail)


def _check_library(name: str) -> Symptom:
    try:
        return Symptom(name, "ok", version(name))
    except PackageNotFoundError:
        return Symptom(name, "fault", "not installed", f"pip install {name}")


def _check_cache() -> str:
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise WeighbeamError(
            "no_cache", f"{folder}: {fault.strerror}", "set WEIGHBEAM_CACHE to a folder you may write"
        ) from None
    if not os.access(folder, os.W_OK):
        raise WeighbeamError("no_cache", f"{folder} cannot be written", "set WEIGHBEAM_CACHE to a folder you may write")
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    models = sorted((folder / "models").glob("*.onnx"))
    damaged = [path.name for path in models if not is_intact(path)]
    note = f", damaged and to be rebuilt: {', '.join(damaged)}" if damaged else ""
    return f"{_shorten(folder)}, {size / 1e6:.0f} MB, models: {len(models)}{note}"


def _check_embedder() -> str:
    """Embed three sentences: unit length, and the two alike nearer than the two unlike."""
    embedder = load_embedder("minilm-fp32", cache_folder())
    vectors = embedder.embed(PROBE).astype(float) / 1e6
    near, far = float(vectors[0] @ vectors[1]), float(vectors[0] @ vectors[2])
    if not near > far + 0.1 or abs(float(vectors[0] @ vectors[0]) - 1) > 1e-4:
        raise WeighbeamError(
            "embedder_fault", f"similarities {near:.3f} and {far:.3f} make no sense", model_files.MINILM_INSTALL
        )
    return f"{embedder.id} {embedder.digest[:12]}, alike {near:.3f}, unlike {far:.3f}"


def _check_arithmetic() -> str:
    """Which of its two graphs `minilm-int8` gets here; both give the same sums."""
    if multiplies_exactly():
        return "multiplies signed bytes exactly"
    return "this processor has no VNNI: the same sums, no faster than minilm-fp32"


def _check_entailment() -> str:
    """Judge a plain contradiction."""
    entailment = load_entailment("nli-minilm")
    against, _, for_it = (int(share) / 1e6 for share in entailment.judge([PLAIN])[0])
    if against <= for_it:
        raise WeighbeamError("entailment_fault", f"a contradiction is entailed by {for_it:.3f}", "reinstall weighbeam")
    return f"{entailment.id} {entailment.digest[:12]}, contradiction {against:.3f}"


def _check_pictures() -> Symptom:
    """Only a machine that is meant to draw must be able to."""
    try:
        require_extra("charts")
    except WeighbeamError as fault:
        return Symptom("pictures", "missing", fault.message, fault.remedy)
    return _guard("pictures", "fault", _draw_probe)


def _draw_probe() -> str:
    """Draw the smallest heatmap there is, as a validator does."""
    drawn = draw_in_process(Heatmap("probe", (), ("a",), (1,), (False,), np.ones((1, 1))))
    return f"a PNG of {len(drawn):,} bytes"


def _check_punkt() -> str:
    from weighbeam.senses.adapters.text.sentences import find_punkt_digest

    return find_punkt_digest()


def _check_extra(extra: str, packages: tuple[str, ...]) -> Symptom:
    absent = [name for name in packages if _version_of(name) is None]
    if absent:
        return Symptom(f"extra {extra}", "missing", f"without {', '.join(absent)}", f"pip install 'weighbeam[{extra}]'")
    return Symptom(f"extra {extra}", "ok", ", ".join(f"{name} {_version_of(name)}" for name in packages))


def _version_of(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _check_mechanism(name: str) -> str:
    mechanism = load_mechanism(name)
    return f"{len(make_params(mechanism).model_dump())} parameters, {len(mechanism.stages())} pure stages"


def _shorten(path: Path) -> str:
    home = str(Path.home())
    return "~" + str(path)[len(home) :] if str(path).startswith(home) else str(path)
