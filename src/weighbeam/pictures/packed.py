"""A picture's data as bytes, on its way to the process that draws it."""

import numpy as np

from weighbeam.core.canonical import Json
from weighbeam.core.pack import pack, unpack
from weighbeam.pictures.curve import Curve
from weighbeam.pictures.heatmap import LONG, LONGEST_LINE, Heatmap
from weighbeam.pictures.text import tame_text

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
