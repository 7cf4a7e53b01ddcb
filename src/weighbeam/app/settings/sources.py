"""Settings from their sources: defaults, then the TOML file, then the environment; the later wins."""

import os
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic_settings import BaseSettings, EnvSettingsSource, SettingsConfigDict, SettingsError

from weighbeam.app.settings.added import GROUP, AddedSections, holds_secret, load_added
from weighbeam.app.settings.sections import (
    AlertsSection,
    ChainSection,
    ChallengesSection,
    ClusterSection,
    LogSection,
    MechanismSection,
    MinerSection,
    ServiceSection,
    StoreSection,
    ValidatorSection,
    WalletSection,
    WandbSection,
    WeighInSection,
)
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.rules.constants import Averaging, refuse_setting
from weighbeam.mechanism.defaults import DEFAULT_MECHANISM

PREFIX = "WEIGHBEAM_"
CONFIG = "WEIGHBEAM_CONFIG"
DEFAULT_FILE = Path("weighbeam.toml")
SECRET = ("wallet", "challenges.token", "validator.copies_token", "alerts.urls", "store.url")
OTHERS = ("CACHE", "PUNKT", "EMBEDDINGS_KEY", "NARRATOR_KEY", "ASSESSOR_KEY")
M = TypeVar("M", bound=BaseModel)
OPERATOR_CONSTANTS = ("ema_alpha", "ema_lookback_hours", "db_retention_hours", "db_cleanup_interval_hours")


class Settings(BaseModel):
    """Everything that can be set, but for the sections that packages add. A relative path is taken from the TOML file's
    folder."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    wallet: WalletSection = WalletSection()
    chain: ChainSection = ChainSection()
    store: StoreSection = StoreSection()
    weigh_in: WeighInSection = WeighInSection()
    validator: ValidatorSection = ValidatorSection()
    cluster: ClusterSection = ClusterSection()
    mechanisms: dict[str, MechanismSection] = {DEFAULT_MECHANISM: MechanismSection()}
    challenges: ChallengesSection = ChallengesSection()
    service: ServiceSection = ServiceSection()
    miner: MinerSection = MinerSection()
    alerts: AlertsSection = AlertsSection()
    wandb: WandbSection = WandbSection()
    log: LogSection = LogSection()


class EnvironmentSettings(Settings, BaseSettings):
    """The same settings as variables: WEIGHBEAM_STORE__URL sets store.url."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True)


@cache
def load_added_sections() -> AddedSections:
    """The sections that packages add. No package takes the name of a section or a variable of ours."""
    variables = {name.lower() for name in (*OTHERS, CONFIG.removeprefix(PREFIX))} | set(OPERATOR_CONSTANTS)
    return load_added(variables | Settings.model_fields.keys() | set(dir(EnvironmentSettings)))


@cache
def make_settings_type(base: type[M]) -> type[M]:
    """`Settings` or `EnvironmentSettings` with the sections that packages add."""
    kinds = load_added_sections().kinds
    added: dict[str, Any] = {name: (kind, Field(default_factory=kind)) for name, kind in kinds.items()}
    return create_model(base.__name__, __base__=base, **added)


class LoadedSettings:
    """Settings, the folder their paths are relative to, and what each source gave."""

    def __init__(self, settings: Settings, folder: Path, sources: Mapping[str, Mapping[str, Any]]) -> None:
        self.settings = settings
        self.folder = folder
        self.sources = sources

    def path(self, given: Path) -> Path:
        return self.folder / given.expanduser()

    def store_url(self) -> str:
        url = self.settings.store.url
        prefix = "sqlite:///"
        inside = url.removeprefix(prefix)
        return f"{prefix}{self.path(Path(inside))}" if url.startswith(prefix) and inside != ":memory:" else url

    def section(self, kind: type[M]) -> M:
        """The section that a package added with this model."""
        for name in type(self.settings).model_fields:
            value = getattr(self.settings, name)
            if isinstance(value, kind):
                return value
        told = f"no section of the settings is a {kind.__name__}"
        raise WeighbeamError("bad_config", told, f"reinstall its package, which registers it as {GROUP}")

    def averaging(self) -> Averaging:
        return Averaging(**self.settings.weigh_in.model_dump())


def find_file(given: Path | None, environment: Mapping[str, str]) -> Path | None:
    """The file asked for, the one the environment names, or weighbeam.toml here if there is one."""
    named = given or (Path(environment[CONFIG]) if environment.get(CONFIG) else None)
    if named is not None:
        if named.is_dir():
            raise WeighbeamError("no_such_file", f"{named} is a folder", "name a TOML file in it with --config")
        if not named.is_file():
            raise WeighbeamError("no_such_file", f"{named} does not exist", "name a TOML file with --config")
        return named
    return DEFAULT_FILE if DEFAULT_FILE.is_file() else None


def load_settings(given: Path | None = None, environment: Mapping[str, str] | None = None) -> LoadedSettings:
    """The settings in force, or `bad_config` naming the place, the value and the rule."""
    env = os.environ if environment is None else environment
    file = find_file(given, env)
    from_file = {} if file is None else _load_toml(file)
    sources = {"environment": _parse_environment(env), f"file {file}": from_file}
    merged = _merge(from_file, sources["environment"])
    for name, fault in load_added_sections().broken.items():
        if name in merged:
            raise fault
    try:
        settings = make_settings_type(Settings)(**merged)
    except ValidationError as fault:
        raise WeighbeamError(
            "bad_config", _format_errors(fault), "see weighbeam config show and docs/settings.md"
        ) from None
    loaded = LoadedSettings(settings, (file.parent if file else Path()).resolve(), sources)
    loaded.averaging()
    return loaded


def find_unknown(environment: Mapping[str, str]) -> list[str]:
    """Variables with our prefix that set nothing."""
    sections = {name.upper() for name in make_settings_type(Settings).model_fields}
    known = {f"{PREFIX}{name.upper()}" for name in OPERATOR_CONSTANTS} | {
        CONFIG,
        *(f"{PREFIX}{name}" for name in OTHERS),
    }
    return sorted(
        name
        for name in environment
        if name.startswith(PREFIX)
        and name not in known
        and name.removeprefix(PREFIX).partition("__")[0].upper() not in sections
    )


def _load_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise WeighbeamError("bad_config", f"{file} is no TOML: {fault}", "mend the line named") from None
    except OSError as fault:
        raise WeighbeamError("bad_config", f"{file}: {fault.strerror}", "check the file's permissions") from None


def _parse_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    source = EnvSettingsSource(make_settings_type(EnvironmentSettings))
    source.env_vars = {name.lower(): value for name, value in environment.items()}
    try:
        found = {name: value for name, value in source().items() if value is not None}
    except SettingsError as fault:
        raise WeighbeamError("bad_config", str(fault), 'write lists as JSON, such as ["a", "b"]') from None
    chosen: dict[str, float] = {}
    for name in OPERATOR_CONSTANTS:
        text = environment.get(f"{PREFIX}{name.upper()}")
        if text is not None:
            try:
                chosen[name] = float(text)
            except ValueError:
                raise refuse_setting(f"{PREFIX}{name.upper()}", text) from None
    return _merge(found, {"weigh_in": chosen}) if chosen else found


def _merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, Mapping) and isinstance(merged.get(key), Mapping)
        merged[key] = _merge(merged[key], value) if both else value
    return merged


def _format_errors(fault: ValidationError) -> str:
    said = []
    hidden = (*SECRET, *(name for name, kind in load_added_sections().kinds.items() if holds_secret(kind)))
    for error in fault.errors():
        place = ".".join(map(str, error["loc"]))
        unknown = error["type"] == "extra_forbidden"
        shown = "" if place.startswith(hidden) else f" is {error['input']!r}"
        said.append(f"there is no setting {place}" if unknown else f"{place}{shown}: {error['msg']}")
    return "; ".join(said)


Role = Literal["miner", "validator"]
ROLE_SECTIONS: dict[Role, set[str]] = {"miner": {"miner"}, "validator": {"validator", "mechanisms"}}


def check_role(loaded: LoadedSettings, role: Role) -> None:
    """`bad_config` for settings that speak of the other role alone: who is announced, and where, would be wrong."""
    given = {name for source in loaded.sources.values() for name in source}
    other: Role = "validator" if role == "miner" else "miner"
    if given & ROLE_SECTIONS[other] and not given & ROLE_SECTIONS[role]:
        missing = " or ".join(f"[{name}]" for name in sorted(ROLE_SECTIONS[role]))
        told = f"these are the settings of a {other}: there is no {missing} in them"
        raise WeighbeamError("bad_config", told, f"name the {role}'s settings with --config, or add the section")
