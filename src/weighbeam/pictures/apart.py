"""Draw in a process of its own, for a time that has an end.

What draws holds the interpreter lock for up to seconds and brings a JavaScript engine with it. Apart, it holds up no
event loop, leaves no memory behind, and cannot take a validator down with it. It costs a start of about a second.
"""

import subprocess
import sys
from typing import Literal

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.pictures.heatmap import Heatmap
from weighbeam.pictures.packed import Picture, pack_picture

Form = Literal["png", "svg", "html"]
SECONDS = 120.0
MOST_TOLD = 300
REMEDY = "reinstall altair and vl-convert-python; check memory and processes"


def draw_apart(picture: Picture, form: Form = "png", seconds: float = SECONDS) -> bytes:
    """The picture, or `picture_fault`. It waits, so an event loop calls it in a thread."""
    empty = isinstance(picture, Heatmap) and not len(picture)
    require(not empty, "nothing_to_draw", "no answer arrived, so there is nothing to compare")
    command = [sys.executable, "-P", "-m", "weighbeam.pictures.worker", form, type(picture).__name__]
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
        said = lines[-1][:MOST_TOLD] if lines else f"it ended with {done.returncode}"
        raise WeighbeamError("picture_fault", f"the picture was not drawn: {said}", REMEDY)
    return done.stdout
