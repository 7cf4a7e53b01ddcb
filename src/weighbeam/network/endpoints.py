"""Where each miner is, and in which dialect it is asked: sources in order, first hit wins (spec § 4).

An endpoint belongs to a hotkey. It is looked up once per round; what goes wrong with a source is reported, and the
others go on.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from weighbeam.core.errors import WeighbeamError
from weighbeam.network.address import parse_endpoint
from weighbeam.network.keys import is_address
from weighbeam.network.signing_dialects import DEFAULT_DIALECT, find_dialect
from weighbeam.network.strict_json import parse_strict


def load_endpoint_file(path: Path, dialect: str) -> dict[str, tuple[str, str]]:
    """hotkey → (url, dialect), where `dialect` is for those that name none."""
    try:
        data = path.read_bytes()
    except OSError as fault:
        raise WeighbeamError(
            "no_endpoint_file", f"{path}: {fault.strerror or fault}", "create it, or leave `static` out"
        ) from None
    try:
        value = parse_strict(data)
        if not isinstance(value, dict):
            raise WeighbeamError("malformed", "not an object")
        return {hotkey: _parse_entry(hotkey, entry, dialect) for hotkey, entry in value.items()}
    except WeighbeamError as fault:
        raise WeighbeamError(
            "bad_endpoint_file", f"{path}: {fault.message}", 'write {"<hotkey>": "http://host:port"}'
        ) from None


def _parse_entry(hotkey: str, entry: Any, dialect: str) -> tuple[str, str]:
    if not is_address(hotkey):
        raise WeighbeamError("bad_hotkey", f"{hotkey!r} is not a valid hotkey")
    given: Mapping[str, Any] = entry if isinstance(entry, dict) else {"url": entry}
    url, named = given.get("url"), given.get("dialect", dialect)
    if not isinstance(url, str) or not isinstance(named, str) or not given.keys() <= {"url", "dialect"}:
        raise WeighbeamError("bad_value", f"the entry of {hotkey} is neither a url nor {{url, dialect}}")
    parse_endpoint(url)
    find_dialect(named)
    return url, named


ENTRY_POINT_GROUP = "weighbeam.endpoints"
Announced: TypeAlias = Mapping[str, str | None]
Report: TypeAlias = Callable[[WeighbeamError], None]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a miner is asked, and which source said so."""

    url: str
    dialect: str
    source: str


class EndpointSource(Protocol):
    def look_up(self, announced: Announced) -> dict[str, Endpoint]:
        """Return the known endpoints of the given hotkeys, each with its neuron on chain."""
        ...


def find_endpoints(sources: Sequence[EndpointSource], announced: Announced) -> dict[str, Endpoint]:
    """The endpoint of every hotkey in `announced` that any source knows."""
    found: dict[str, Endpoint] = {}
    for source in sources:
        missing = {hotkey: endpoint for hotkey, endpoint in announced.items() if hotkey not in found}
        found |= source.look_up(missing)
    return found


def open_sources(
    names: Sequence[str], report: Report, file: Path | None = None, dialect: str = DEFAULT_DIALECT
) -> list[EndpointSource]:
    """Sources by name: `static` (the file), `chain`, or a plug-in; `dialect` is for endpoints that name none."""
    find_dialect(dialect)
    opened = (_open_source(name, report, file, dialect) for name in names)
    return [source for source in opened if source is not None]


def _open_source(name: str, report: Report, file: Path | None, dialect: str) -> EndpointSource | None:
    if name == "chain":
        return ChainSource(dialect)
    if name == "static":
        if file is None:
            raise WeighbeamError(
                "bad_endpoint_source", "the source `static` names no file", "name the file of endpoints"
            )
        return StaticSource(file, dialect, report)
    entries = {entry.value: entry for entry in entry_points(group=ENTRY_POINT_GROUP, name=name)}
    if len(entries) != 1:
        what = f"{len(entries)} packages provide" if entries else "no package provides"
        raise WeighbeamError("bad_endpoint_source", f"{what} {name!r}", "use static, chain or an installed plug-in")
    try:
        return PlugInSource(name, next(iter(entries.values())).load(), dialect, report)
    except Exception as fault:
        report(_plug_in_failed(name, f"it does not load: {fault}"))
        return None


@dataclass(frozen=True, slots=True)
class ChainSource:
    """Endpoints that the neurons announced on chain."""

    dialect: str = DEFAULT_DIALECT

    def look_up(self, announced: Announced) -> dict[str, Endpoint]:
        return {hotkey: Endpoint(url, self.dialect, "chain") for hotkey, url in announced.items() if url}


class StaticSource:
    """A file, read again each round; if it becomes invalid, its last valid content is used."""

    def __init__(self, path: Path, dialect: str, report: Report) -> None:
        self._path, self._dialect, self._report = path, dialect, report
        self._entries = load_endpoint_file(path, dialect)

    def look_up(self, announced: Announced) -> dict[str, Endpoint]:
        try:
            self._entries = load_endpoint_file(self._path, self._dialect)
        except WeighbeamError as fault:
            self._report(WeighbeamError(fault.code, f"{fault.message}; its last good content is used", fault.remedy))
        return {hotkey: Endpoint(*self._entries[hotkey], "static") for hotkey in announced if hotkey in self._entries}


@dataclass(frozen=True, slots=True)
class PlugInSource:
    """Endpoints from another package, asked per hotkey; a failure skips only that hotkey."""

    name: str
    find: Callable[[str], Any]
    dialect: str
    report: Report

    def look_up(self, announced: Announced) -> dict[str, Endpoint]:
        found: dict[str, Endpoint] = {}
        faults: list[str] = []
        for hotkey in announced:
            try:
                url = self.find(hotkey)
                if url is not None:
                    parse_endpoint(url)
                    found[hotkey] = Endpoint(url, self.dialect, self.name)
            except Exception as fault:
                faults.append(f"{hotkey}: {type(fault).__name__}: {fault}")
        if faults:
            self.report(_plug_in_failed(self.name, f"{len(faults)} of {len(announced)} hotkeys, first {faults[0]}"))
        return found


def _plug_in_failed(name: str, what: str) -> WeighbeamError:
    return WeighbeamError("endpoint_plugin_failed", f"{name!r} is skipped: {what}", "update or remove the plug-in")
