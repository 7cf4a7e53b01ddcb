"""Without the SDK the node's own files cannot be imported, and hold no tests."""

import importlib.util
from pathlib import Path

collect_ignore: list[str] = []
if importlib.util.find_spec("bittensor") is None:
    collect_ignore += [path.name for path in Path(__file__).parent.glob("*.py") if not path.name.startswith("test_")]
