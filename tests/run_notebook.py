"""Run a notebook from its first cell to its last, as whoever opens it would.

python tests/run_notebook.py examples/compare_chunkers.ipynb writes its outputs anew.
"""

import sys
from base64 import b64decode, b64encode
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from weighbeam.charts.render import squeeze_png

SECONDS = 240


def run_notebook(path: Path) -> nbformat.NotebookNode:
    """The notebook with fresh outputs; the first cell that raises ends it with its error."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=SECONDS,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    notebook.metadata.pop("language_info", None)
    return notebook


def squeeze_pictures(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                png = b64decode(output.data["image/png"])
                output.data["image/png"] = b64encode(squeeze_png(png)).decode()
    return notebook


if __name__ == "__main__":
    for name in sys.argv[1:]:
        nbformat.write(squeeze_pictures(run_notebook(Path(name))), name)
