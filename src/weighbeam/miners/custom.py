"""Load a miner's own handler: an async function of an installed module or of a Python file."""

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from inspect import iscoroutinefunction
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from weighbeam.core.errors import WeighbeamError

if TYPE_CHECKING:
    # Only for its type: what scores a file loads such functions too, and needs no server.
    from weighbeam.network.miner_app import Handler

REMEDY = "write package.module:function or FILE.py:function, of an async def that takes a task and the seconds it has"


def load_custom_handler(place: str, folder: Path) -> "Handler":
    """`async def name(task, seconds) -> payload`; a file's relative path starts at `folder`."""
    source, _, name = place.rpartition(":")
    try:
        module = _load_module(folder / Path(source).expanduser()) if source.endswith(".py") else import_module(source)
        found: Any = getattr(module, name)
    except Exception as fault:
        raise WeighbeamError("bad_function", f"{place}: {type(fault).__name__}: {fault}", REMEDY) from None
    if not iscoroutinefunction(found):
        raise WeighbeamError("bad_function", f"{place} is not an async function", REMEDY)
    handler: Handler = found
    return handler


def _load_module(file: Path) -> ModuleType:
    """A module under a name that hides no other; what lies beside the file can be imported by it."""
    spec = spec_from_file_location(f"own_answers_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    folder = str(file.parent.resolve())
    if folder not in sys.path:
        sys.path.append(folder)
    spec.loader.exec_module(module)
    return module
