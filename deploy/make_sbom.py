"""Write a bill of materials (CycloneDX 1.6, JSON): weighbeam, all it needs here, and the models it fetches.

    python deploy/make_sbom.py build/sbom.json [EXTRA …]

Versions, licences and who needs whom are those of the environment that runs this.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from weighbeam.app.models import list_packages

RUNTIME = ("all",)
Needs = dict[str, set[str]]


def follow_requirements(*lines: str) -> Needs:
    """Every installed package that these requirements lead to, directly or not, and what each of them needs itself."""
    found: Needs = {}
    seen, waiting = set(), list(_read_requirements(lines, ()))
    while waiting:
        package, wanted = waiting.pop()
        if (package, wanted) in seen:
            continue
        seen.add((package, wanted))
        needed = list(_read_requirements(distribution(package).requires or (), wanted))
        found.setdefault(package, set()).update(name for name, _ in needed if name != package)
        waiting += needed
    return found


def _read_requirements(lines: Iterable[str], extras: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for line in lines:
        needed = Requirement(line)
        applies = [needed.marker is None or needed.marker.evaluate({"extra": extra}) for extra in ("", *extras)]
        if any(applies) and is_installed(needed.name):
            yield canonicalize_name(needed.name), tuple(sorted(needed.extras))


def is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def write_sbom(needs: Needs) -> dict[str, Any]:
    components = [_describe(distribution(name)) for name in sorted(needs) if name != "weighbeam"]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {**_describe(distribution("weighbeam")), "type": "application"}},
        "components": [*components, *_describe_parcels()],
        "dependencies": [
            {"ref": _refer(name), "dependsOn": sorted(_refer(other) for other in needed)}
            for name, needed in sorted(needs.items())
        ],
    }


def _refer(name: str) -> str:
    return f"pkg:pypi/{canonicalize_name(name)}@{distribution(name).version}"


def _describe(package: Distribution) -> dict[str, Any]:
    name = canonicalize_name(package.metadata["Name"])
    told = {"type": "library", "name": name, "version": package.version}
    licence = package.metadata.get("License-Expression")
    known = {"licenses": [{"expression": licence}]} if licence else {}
    return {**told, "purl": _refer(name), "bom-ref": _refer(name), **known}


def _describe_parcels() -> Iterator[dict[str, Any]]:
    for parcel in list_packages():
        package, _, version = parcel.requirement.partition("==")
        yield {
            "type": "data" if parcel.name == "punkt" else "machine-learning-model",
            "name": package,
            "version": version,
            "description": parcel.why,
            "purl": f"pkg:pypi/{package}@{version}",
            "bom-ref": f"fetched:{parcel.name}",
            "hashes": [{"alg": "SHA-256", "content": parcel.sha256}],
        }


if __name__ == "__main__":
    needs = follow_requirements(f"weighbeam[{','.join(sys.argv[2:] or RUNTIME)}]")
    Path(sys.argv[1]).write_text(json.dumps(write_sbom(needs), indent=1) + "\n")
    print(f"{sys.argv[1]}: {len(needs)} packages")
