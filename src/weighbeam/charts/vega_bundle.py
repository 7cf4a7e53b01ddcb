"""The JavaScript that draws charts in a browser, as vl-convert ships it: Vega, Vega-Lite and Vega-Embed in one file.

Putting it together takes seconds and holds the interpreter lock, so it is done in a process of its own.
"""

import subprocess
import sys
from importlib.metadata import version

from weighbeam.charts.render import VEGA_LITE
from weighbeam.core.errors import WeighbeamError

PROGRAM = "window.vegaEmbed = vegaEmbed;"
SECONDS = 120.0
REMEDY = "reinstall vl-convert-python"


def name_bundle() -> str:
    """Versions that determine the bundle's content."""
    return f"{version('vl-convert-python')} {VEGA_LITE}"


def make_bundle() -> bytes:
    """Defines `vegaEmbed` for the page; or `picture_fault`."""
    command = [sys.executable, "-P", "-m", "weighbeam.charts.vega_bundle"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=True)
    except (OSError, subprocess.SubprocessError) as fault:
        told = f"the chart library was not put together: {type(fault).__name__}"
        raise WeighbeamError("picture_fault", told, REMEDY) from None
    return done.stdout


if __name__ == "__main__":
    import vl_convert

    sys.stdout.buffer.write(vl_convert.javascript_bundle(PROGRAM, vl_version=VEGA_LITE).encode())
