"""Settings from their sources: defaults, then the TOML file, then the environment; the later wins."""

import os
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model, field_validator
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
from weighbeam.core.names import MAX_NAME, is_clean_name
from weighbeam.engine.rules.constants import Averaging, find_ignored, refuse_setting
from weighbeam.mechanism.defaults import DEFAULT_MECHANISM

PREFIX = "WEIGHBEAM_"
CONFIG = "WEIGHBEAM_CONFIG"
DEFAULT_FILE = Path("weighbeam.toml")
SECRET = ("wallet", "challenges.token", "validator.copies_token", "alerts.urls", "store.url")
OTHERS = ("CACHE", "PUNKT", "EMBEDDINGS_KEY", "NARRATOR_KEY", "ASSESSOR_KEY")
M = TypeVar("M", bound=BaseModel)
FILE_ONLY = frozenset({"params", "preset", "override_params"})
"""Fields of a mechanism's section that no variable sets."""
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
    aliases: dict[str, str] = Field(default_factory=dict, description="names of miners, by hotkey; shown to people")

    @field_validator("aliases")
    @classmethod
    def check_aliases(cls, aliases: dict[str, str]) -> dict[str, str]:
        """Each is a hotkey's, on one line, short, and free of characters that turn or hide text."""
        if not aliases:
            return aliases
        from weighbeam.network.keys import is_address

        for hotkey, name in aliases.items():
            if not is_address(hotkey):
                raise ValueError(f"{hotkey[:60]!r} is not a hotkey; write the ss58 address of a miner")
            if not is_clean_name(name):
                rule = f"a name has 1 to {MAX_NAME} visible characters on one line"
                raise ValueError(f"{name[:60]!r}, the name of {hotkey}, cannot be used: {rule}")
        return aliases


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
            "bad_config", _format_errors(fault), "correct it; weighbeam config show lists every setting"
        ) from None
    _refuse_overrides(settings)
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


def find_params_variables(environment: Mapping[str, str]) -> list[str]:
    """Variables that would set a mechanism's parameters, by their name or by the JSON they hold."""
    return sorted(
        name for name, value in environment.items() if _names_params(name) or _holds_params(_parse_lone(name, value))
    )


def explain_ignored(environment: Mapping[str, str]) -> dict[str, str]:
    """Variables that change nothing, each with the reason."""
    reasons = dict.fromkeys(find_unknown(environment), "set but names no setting")
    told = "set but ignored: {} are not configurable by environment"
    reasons |= dict.fromkeys(find_params_variables(environment), told.format("mechanism parameters"))
    reasons |= dict.fromkeys(find_ignored(environment), told.format("network constants"))
    return dict(sorted(reasons.items()))


def _names_params(variable: str) -> bool:
    section, *path = variable.upper().split("__")
    return section == f"{PREFIX}MECHANISMS" and len(path) > 1 and path[1].lower() in FILE_ONLY


def _parse_lone(name: str, value: str) -> Mapping[str, Any]:
    """The mechanisms' sections that one variable sets; none if it cannot be parsed, which loading reports."""
    if not name.upper().startswith(f"{PREFIX}MECHANISMS"):
        return {}
    try:
        found = _read_variables({name: value}).get("mechanisms")
    except WeighbeamError:
        return {}
    return found if isinstance(found, Mapping) else {}


def _holds_params(sections: Mapping[str, Any]) -> bool:
    return any(isinstance(section, Mapping) and FILE_ONLY & section.keys() for section in sections.values())


def _drop_params(found: dict[str, Any]) -> dict[str, Any]:
    """Without the fields that no variable sets."""
    sections = found.get("mechanisms")
    if not isinstance(sections, Mapping) or not _holds_params(sections):
        return found
    kept = {
        name: {key: value for key, value in section.items() if key not in FILE_ONLY}
        if isinstance(section, Mapping)
        else section
        for name, section in sections.items()
    }
    return {**found, "mechanisms": kept}


def _refuse_overrides(settings: Settings) -> None:
    """`bad_config` for parameters in a section that does not say that it overrides them."""
    bare = {name: one for name, one in settings.mechanisms.items() if one.given_params and not one.override_params}
    if bare:
        named = ", ".join(
            f"mechanisms.{name}.{path}"
            for name, one in bare.items()
            for path in (["preset"] if one.preset else []) + [f"params.{param}" for param in one.params]
        )
        switches = " and ".join(f"[mechanisms.{name}]" for name in bare)
        remedy = (
            f"remove them, or write override_params = true in {switches} to set other weights than other validators"
        )
        raise WeighbeamError("bad_config", f"parameters are set without override_params: {named}", remedy)


def _load_toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise WeighbeamError("bad_config", f"{file} is not valid TOML: {fault}", "fix the line that is named") from None
    except OSError as fault:
        raise WeighbeamError("bad_config", f"{file}: {fault.strerror}", "check the file's permissions") from None


def _read_variables(environment: Mapping[str, str]) -> dict[str, Any]:
    source = EnvSettingsSource(make_settings_type(EnvironmentSettings))
    source.env_vars = {name.lower(): value for name, value in environment.items()}
    try:
        return {name: value for name, value in source().items() if value is not None}
    except SettingsError as fault:
        raise WeighbeamError("bad_config", str(fault), 'write lists as JSON, such as ["a", "b"]') from None


def _parse_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    named = {name: value for name, value in environment.items() if not _names_params(name)}
    found = _drop_params(_read_variables(named))
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


def suggest_setting(place: str) -> str:
    """
    >>> suggest_setting("validator.lisen"), suggest_setting("x.y")
    (' (did you mean validator.listen?)', '')
    """
    section, _, name = place.rpartition(".")
    kinds: Mapping[str, Any] = {key: info.annotation for key, info in make_settings_type(Settings).model_fields.items()}
    kind = MechanismSection if section.startswith("mechanisms.") else kinds.get(section)
    known = list(kind.model_fields) if kind is not None else list(kinds) if not section else []
    like = get_close_matches(name, known, n=1)
    return f" (did you mean {f'{section}.' if section else ''}{like[0]}?)" if like else ""


def _format_errors(fault: ValidationError) -> str:
    said = []
    hidden = (*SECRET, *(name for name, kind in load_added_sections().kinds.items() if holds_secret(kind)))
    for error in fault.errors():
        place = ".".join(map(str, error["loc"]))
        unknown = error["type"] == "extra_forbidden"
        shown = "" if place.startswith(hidden) else f" is {error['input']!r}"
        said.append(
            f"there is no setting {place}{suggest_setting(place)}" if unknown else f"{place}{shown}: {error['msg']}"
        )
    return "; ".join(said)


Role = Literal["miner", "validator"]
ROLE_SECTIONS: dict[Role, set[str]] = {"miner": {"miner"}, "validator": {"validator", "mechanisms"}}


APP_SECTIONS = {"store", "service", "log"}


def find_role(loaded: LoadedSettings) -> Literal["validator", "miner", "app"]:
    """Whether settings are for a validator, a miner or an app, by the sections in them."""
    given = {name for source in loaded.sources.values() for name in source}
    if given & ROLE_SECTIONS["miner"] and not given & ROLE_SECTIONS["validator"]:
        return "miner"
    return "app" if given <= APP_SECTIONS | load_added_sections().kinds.keys() else "validator"


def check_role(loaded: LoadedSettings, role: Role) -> None:
    """`bad_config` for settings that speak of the other role alone: who is announced, and where, would be wrong."""
    given = {name for source in loaded.sources.values() for name in source}
    other: Role = "validator" if role == "miner" else "miner"
    if given & ROLE_SECTIONS[other] and not given & ROLE_SECTIONS[role]:
        missing = " or ".join(f"[{name}]" for name in sorted(ROLE_SECTIONS[role]))
        told = f"these are the settings of a {other}: they have no {missing}"
        raise WeighbeamError("bad_config", told, f"name the {role}'s settings with --config, or add the section")
