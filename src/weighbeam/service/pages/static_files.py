"""The files a page needs, read once and served from memory under names that change with what is in them."""

import gzip
import hashlib
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from fastapi import FastAPI, Request, Response

from weighbeam.charts.vega_bundle import make_bundle, name_bundle
from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.model_files import cache_folder, cached_file
from weighbeam.service.http.pipeline import SEALED_HEADERS

TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
OWN = (
    "style.css",
    "theme.js",
    "live.js",
    "tables.js",
    "times.js",
    "charts.js",
    "ask.js",
    "overview.js",
    "decide.js",
    "icon.svg",
)
VEGA = "vega.js"
MAKING = threading.Lock()
FOR_EVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class StaticFile:
    data: bytes
    squeezed: bytes
    media_type: str


@cache
def list_files() -> Mapping[str, str]:
    """Plain name → the name it is served under. The bundle's name does not wait for the bundle to be made."""
    names = {name: _rename(name, hashlib.sha256(_load_static(name)).hexdigest()) for name in OWN}
    return {**names, VEGA: _rename(VEGA, hashlib.sha256(name_bundle().encode()).hexdigest())}


@cache
def find_static_file(name: str) -> StaticFile:
    """By the name it is served under; the bundle is made when it is first asked for."""
    served = {address: plain for plain, address in list_files().items()}
    if name not in served:
        raise WeighbeamError("unknown_file", "there is no such file", "see the page it was named on")
    plain = served[name]
    data = load_bundle(name) if plain == VEGA else _load_static(plain)
    return StaticFile(data, gzip.compress(data, 6, mtime=0), TYPES[f".{plain.rpartition('.')[2]}"])


def load_bundle(name: str) -> bytes:
    """Made once, however many ask for it first: each making is a process of its own, with memory for a browser."""
    with MAKING:
        return _load_cached_bundle(name)


@cache
def _load_cached_bundle(name: str) -> bytes:
    """Kept where everything is that can be made again."""
    kept = cached_file(cache_folder() / name, make_bundle)
    return kept if isinstance(kept, bytes) else kept.read_bytes()


def add_static(app: FastAPI) -> None:
    """`/static/NAME`: looked up among names known, never in the file system."""

    @app.get("/static/{name}", include_in_schema=False)
    def give_file(request: Request, name: str) -> Response:
        try:
            found = find_static_file(name)
        except WeighbeamError as fault:
            status = 404 if fault.code == "unknown_file" else 503
            return Response(f"{fault.message}\n", status, SEALED_HEADERS, "text/plain")
        headers = {"Cache-Control": FOR_EVER, "X-Content-Type-Options": "nosniff", "Vary": "Accept-Encoding"}
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return Response(found.data, headers=headers, media_type=found.media_type)
        return Response(found.squeezed, headers={**headers, "Content-Encoding": "gzip"}, media_type=found.media_type)


def _rename(name: str, digest: str) -> str:
    stem, _, kind = name.rpartition(".")
    return f"{stem}.{digest[:12]}.{kind}"


@cache
def _load_static(name: str) -> bytes:
    return (files("weighbeam.service.pages") / "static" / name).read_bytes()
