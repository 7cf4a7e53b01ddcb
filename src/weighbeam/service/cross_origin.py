"""Pages of other sites that may call from a browser: none but those named, and never with what a browser remembers."""

import re
from collections.abc import Sequence

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

from weighbeam.core.errors import require

ORIGIN = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]{1,255}", re.ASCII)
HEADERS = ("Authorization", "Idempotency-Key")


def add_origins(app: FastAPI, origins: Sequence[str]) -> None:
    """Lets the browser show those sites our replies to GET and POST; a token has to be sent, cookies never are."""
    for origin in origins:
        sound = ORIGIN.fullmatch(origin) is not None
        require(sound, "bad_config", f"service.origins: {origin!r} is no site", "write each as https://app.example")
    if origins:
        app.add_middleware(
            CORSMiddleware, allow_origins=list(origins), allow_methods=["GET", "POST"], allow_headers=list(HEADERS)
        )
