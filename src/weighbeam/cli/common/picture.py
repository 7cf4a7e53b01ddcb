"""Save a picture in the format that the file's suffix names."""

from pathlib import Path
from typing import get_args

from weighbeam.charts.drawing import ChartForm, Picture, draw_in_process
from weighbeam.core.errors import WeighbeamError


def save_picture(picture: Picture, file: Path) -> str:
    """Where it is now."""
    forms: tuple[ChartForm, ...] = get_args(ChartForm)
    form = next((known for known in forms if file.suffix.lower() == f".{known}"), None)
    if form is None:
        raise WeighbeamError("bad_picture", f"{file.name} names no form of picture", "end it with .png, .svg or .html")
    if not file.absolute().parent.is_dir():
        raise WeighbeamError("bad_picture", f"{file.parent} is not a folder", "make it first")
    image = draw_in_process(picture, form)
    try:
        file.write_bytes(image)
    except OSError as fault:
        raise WeighbeamError("bad_picture", f"{file}: {fault.strerror}", "name a file that can be written") from None
    return str(file)
