"""Open a model on onnxruntime: one thread, so that sums have one order."""

import os
from pathlib import Path
from typing import Any


def open_session(model: Path | bytes) -> Any:
    """A session on one thread. The runtime reports usage to its maker unless told not to before it is imported."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    from onnxruntime import InferenceSession, SessionOptions, disable_telemetry_events

    disable_telemetry_events()
    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    source = model if isinstance(model, bytes) else str(model)
    return InferenceSession(source, options, providers=["CPUExecutionProvider"])
