"""Draw a picture into a file, in the form that its suffix names."""

from pathlib import Path
from typing import get_args

from weighbeam.core.errors import WeighbeamError
from weighbeam.pictures.apart import Form, draw_apart
from weighbeam.pictures.packed import Picture


def save_picture(picture: Picture, file: Path) -> str:
    """Where it is now."""
    forms: tuple[Form, ...] = get_args(Form)
    form = next((known for known in forms if file.suffix.lower() == f".{known}"), None)
    if form is None:
        raise WeighbeamError("bad_picture", f"{file.name} names no form of picture", "end it with .png, .svg or .html")
    if not file.absolute().parent.is_dir():
        raise WeighbeamError("bad_picture", f"{file.parent} is no folder", "make it first")
    image = draw_apart(picture, form)
    try:
        file.write_bytes(image)
    except OSError as fault:
        raise WeighbeamError("bad_picture", f"{file}: {fault.strerror}", "name a file that can be written") from None
    return str(file)
