"""Where the repository begins."""

from pathlib import Path

ROOT = Path(__file__).parent.parent
