"""Of which version a store's tables are."""

from importlib.resources import files
from pathlib import Path

from weighbeam.core.errors import WeighbeamError

VERSION = "SELECT version_num FROM alembic_version"


def check_revision(revision: str | None) -> str:
    """One that is known here; None is of no journal at all."""
    if revision is None:
        raise WeighbeamError("store_unusable", "this holds something else, no journal", "check the path")
    if revision not in _list_revisions():
        told = f"this journal is of a version that is not known here ({revision})"
        raise WeighbeamError("store_unusable", told, "use the version of weighbeam that wrote it, or a newer one")
    return revision


def find_head() -> str:
    return max(_list_revisions())


def _list_revisions() -> set[str]:
    versions = Path(str(files("weighbeam.store") / "migrations" / "versions"))
    return {path.stem.split("_")[0] for path in versions.glob("[0-9]*.py")}
