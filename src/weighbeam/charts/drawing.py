"""Draw a chart in a process of its own, with its data packed as bytes and a time limit.

What draws holds the interpreter lock for up to seconds and brings a JavaScript engine with it. Apart, it holds up no
event loop, leaves no memory behind, and cannot take a validator down with it. It costs a start of about a second.
"""

import subprocess
import sys
from typing import Literal

import numpy as np

from weighbeam.charts.curve import Curve
from weighbeam.charts.heatmap import LONG, LONGEST_LINE, Heatmap
from weighbeam.charts.text import tame_text
from weighbeam.core.canonical import Json
from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.extras import require_extra
from weighbeam.core.pack import pack, unpack

Picture = Heatmap | Curve


def pack_picture(picture: Picture) -> bytes:
    return pack_curve(picture) if isinstance(picture, Curve) else pack_heatmap(picture)


def pack_heatmap(heatmap: Heatmap) -> bytes:
    """Texts go as they will be shown, so that none is too long or no text at all."""
    facts = {
        "title": tame_text(heatmap.title, LONGEST_LINE),
        "subtitle": [tame_text(line, LONGEST_LINE) for line in heatmap.subtitle],
        "hotkeys": [tame_text(hotkey, LONG) for hotkey in heatmap.hotkeys],
        "clusters": list(heatmap.clusters),
        "flagged": list(heatmap.flagged),
    }
    return pack(facts, {"similarity": heatmap.similarity.astype(np.float64)})


def unpack_heatmap(data: bytes) -> Heatmap:
    facts, arrays = unpack(data)
    return Heatmap(
        title=facts["title"],
        subtitle=tuple(facts["subtitle"]),
        hotkeys=tuple(facts["hotkeys"]),
        clusters=tuple(facts["clusters"]),
        flagged=tuple(facts["flagged"]),
        similarity=arrays["similarity"],
    )


def pack_curve(curve: Curve) -> bytes:
    facts: dict[str, Json] = {
        "title": curve.title,
        "subtitle": curve.subtitle,
        "start": curve.start,
        "reference": curve.reference,
        "points": curve.points,
        "marks": curve.marks,
        "other": curve.other,
        "bars": curve.bars,
    }
    return pack(facts, {})


def unpack_curve(data: bytes) -> Curve:
    facts, _ = unpack(data)
    rows = {name: tuple(map(tuple, facts[name])) for name in ("points", "marks", "other", "bars")}
    return Curve(facts["title"], tuple(facts["subtitle"]), facts["start"], facts["reference"], **rows)


ChartForm = Literal["png", "svg", "html"]
SECONDS = 120.0
MAX_TOLD = 300
REMEDY = "reinstall altair and vl-convert-python; check memory and processes"


def draw_in_process(picture: Picture, form: ChartForm = "png", seconds: float = SECONDS) -> bytes:
    """The picture, or `picture_fault`. It waits, so an event loop calls it in a thread."""
    require_extra("charts")
    empty = isinstance(picture, Heatmap) and not len(picture)
    require(not empty, "nothing_to_draw", "no answer arrived, so there is nothing to compare")
    command = [sys.executable, "-P", "-m", "weighbeam.charts.worker", form, type(picture).__name__]
    try:
        done = subprocess.run(command, input=pack_picture(picture), capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        raise WeighbeamError(
            "picture_fault", f"the picture was not drawn within {seconds:g} s", "it is tried again; give it more cores"
        ) from None
    except OSError as fault:
        raise WeighbeamError("picture_fault", f"nothing could be started to draw: {fault}", REMEDY) from None
    if done.returncode != 0 or not done.stdout:
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        said = lines[-1][:MAX_TOLD] if lines else f"it ended with {done.returncode}"
        raise WeighbeamError("picture_fault", f"the picture was not drawn: {said}", REMEDY)
    return done.stdout
