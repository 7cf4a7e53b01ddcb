"""Sections that packages add to the settings: set, shown and hidden like ours; a broken one stops only itself."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import invalidate_caches
from pathlib import Path

import pytest
from pydantic import BaseModel

from command import weighbeam
from weighbeam.app.settings import sources
from weighbeam.app.settings.added import GROUP
from weighbeam.app.settings.origins import list_settings
from weighbeam.app.settings.secrets import list_secrets
from weighbeam.app.settings.sources import find_unknown, load_settings
from weighbeam.core.errors import WeighbeamError

MODULE = """
from pathlib import Path
from pydantic import BaseModel, SecretStr

class Greeting(BaseModel, extra="forbid"):
    words: tuple[str, ...] = ("hello",)
    loud: bool = False
    token: SecretStr | None = None

class Plain(BaseModel):
    count: int = 1

class Demanding(BaseModel):
    count: int
"""
Install = Callable[..., None]


def forget() -> None:
    invalidate_caches()
    sources.load_added_sections.cache_clear()
    sources.make_settings_type.cache_clear()
    sys.modules.pop("greeting_settings", None)


def write_package(folder: Path, entries: dict[str, str], package: str = "greeting") -> None:
    """The module and the metadata that an installer would leave in `folder`."""
    (folder / "greeting_settings.py").write_text(MODULE)
    record = folder / f"{package}-1.dist-info"
    record.mkdir()
    (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1\n")
    lines = "".join(f"{name} = {value}\n" for name, value in entries.items())
    (record / "entry_points.txt").write_text(f"[{GROUP}]\n{lines}")


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    folder = tmp_path / "installed"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))

    def add(entries: dict[str, str], package: str = "greeting") -> None:
        write_package(folder, entries, package)
        forget()

    yield add
    monkeypatch.undo()
    forget()


def write(folder: Path, text: str) -> Path:
    file = folder / "weighbeam.toml"
    file.write_text(text)
    return file


def test_a_package_adds_a_section(install: Install, tmp_path: Path) -> None:
    install({"greeting": "greeting_settings:Greeting"})
    from greeting_settings import Greeting

    file = write(tmp_path, '[greeting]\nwords = ["ahoy"]\ntoken = "open-sesame"\n')
    environment = {"WEIGHBEAM_GREETING__LOUD": "true", "WEIGHBEAM_GRETING__LOUD": "true"}
    loaded = load_settings(file, environment)
    section = loaded.section(Greeting)
    assert (section.words, section.loud) == (("ahoy",), True)
    lines = {line.name: (line.value, line.origin) for line in list_settings(loaded)}
    assert lines["greeting.words"] == (["ahoy"], f"file {file}")
    assert lines["greeting.loud"] == (True, "environment")
    assert lines["greeting.token"] == ("********", f"file {file}")
    assert "open-sesame" in list_secrets(loaded, {})
    assert find_unknown(environment) == ["WEIGHBEAM_GRETING__LOUD"]
    assert load_settings(None, {}).section(Greeting) == Greeting()


def test_a_mistake_in_it_is_named_and_no_secret_shown(install: Install, tmp_path: Path) -> None:
    install({"greeting": "greeting_settings:Greeting", "plain": "greeting_settings:Plain"})
    for text, told in (
        ("[greeting]\nlout = true", "there is no setting greeting.lout"),
        ('[greeting]\ntoken = ["open-sesame"]', "greeting.token: "),
        ('greeting = "open-sesame"', "greeting: "),
        ('[plain]\ncount = "some"', "plain.count is 'some'"),
    ):
        with pytest.raises(WeighbeamError, match="bad_config") as caught:
            load_settings(write(tmp_path, text), {})
        assert told in caught.value.message
        assert "sesame" not in caught.value.message


def test_the_command_line_shows_it(tmp_path: Path) -> None:
    write_package(tmp_path, {"greeting": "greeting_settings:Greeting"})
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = weighbeam("config", "show", "--origin", PYTHONPATH=path, WEIGHBEAM_GREETING__LOUD="true")
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if "greeting.loud" in line]
    assert "environment" in line


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("greeting", "nowhere:Greeting"),
        ("greeting", "greeting_settings:Missing"),
        ("greeting", "json:dumps"),
        ("greeting", "greeting_settings:Demanding"),
        ("Greeting", "greeting_settings:Greeting"),
        ("green-ting", "greeting_settings:Greeting"),
        ("green__ting", "greeting_settings:Greeting"),
    ],
)
def test_a_broken_package_stops_only_its_own_section(install: Install, tmp_path: Path, name: str, value: str) -> None:
    install({name: value})
    assert load_settings(write(tmp_path, "[log]\nlevel = 'ERROR'\n"), {}).settings.log.level == "ERROR"
    with pytest.raises(WeighbeamError, match="bad_config") as caught:
        load_settings(write(tmp_path, f"[{name}]\nloud = true\n"), {})
    assert f"[{name}]" in caught.value.message
    assert "greeting" in caught.value.remedy


def test_no_package_takes_a_name_of_ours(install: Install) -> None:
    install(dict.fromkeys(("store", "cache", "config", "ema_alpha", "copy", "novelty"), "greeting_settings:Greeting"))
    from greeting_settings import Greeting

    loaded = load_settings(None, {"WEIGHBEAM_CACHE": "folder", "WEIGHBEAM_STORE__URL": "sqlite:///a.db"})
    assert loaded.store_url().endswith("a.db")
    assert not any(isinstance(value, Greeting) for _, value in loaded.settings)
    with pytest.raises(WeighbeamError, match="no section of the settings is a Greeting"):
        loaded.section(Greeting)


def test_two_packages_with_one_section_are_told_apart(install: Install, tmp_path: Path) -> None:
    install({"greeting": "greeting_settings:Greeting"})
    install({"greeting": "greeting_settings:Plain"}, "another")
    with pytest.raises(WeighbeamError, match=r"two packages add the section \[greeting\]"):
        load_settings(write(tmp_path, "[greeting]\n"), {})


def test_sections_are_read_without_loading_a_mechanism() -> None:
    code = (
        "import sys\n"
        "from weighbeam.app.settings.sources import load_settings\n"
        "assert load_settings(None, {}).settings.novelty.scan == 'auto'\n"
        "print([m for m in 'numpy sqlalchemy weighbeam.mechanism.base'.split() if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_added_section_of_ours_is_a_model_that_describes_its_fields() -> None:
    kinds = sources.load_added_sections().kinds
    assert kinds
    for kind in kinds.values():
        assert issubclass(kind, BaseModel)
        assert all(field.description for field in kind.model_fields.values())
