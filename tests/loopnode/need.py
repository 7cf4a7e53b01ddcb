"""Whether the SDK and its metadata are here. Without them tests are skipped; where `CI` is set they fail instead."""

import importlib.util
import os

import pytest


def need_sdk() -> None:
    """Skip this test (or module) without the SDK, the extra `bittensor`."""
    if importlib.util.find_spec("bittensor") is None:
        if os.environ.get("CI"):
            pytest.fail("bittensor is not installed here")
        pytest.skip("bittensor is not installed here: make setup", allow_module_level=True)
    from loopnode.golden import NoGolden, load_golden

    try:
        load_golden()
    except NoGolden as fault:
        if os.environ.get("CI"):
            pytest.fail(f"the SDK's metadata cannot be had: {fault}")
        pytest.skip(f"the SDK's metadata cannot be had: {fault}", allow_module_level=True)
