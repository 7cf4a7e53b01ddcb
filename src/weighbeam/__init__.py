"""Weighbeam: an engine for incentive mechanisms."""

__version__ = "0.1.0"
