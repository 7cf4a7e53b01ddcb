"""What is logged: one line per record, fields for programs, and never a secret."""

import io
import json
import logging
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weighbeam.app.logs import start_logging
from weighbeam.app.notices.notifier import hide_address
from weighbeam.app.redaction import HIDDEN
from weighbeam.app.settings.origins import list_settings
from weighbeam.app.settings.secrets import list_secrets
from weighbeam.app.settings.sections import LogSection
from weighbeam.app.settings.sources import LoadedSettings, Settings, load_settings
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import LOG, Alerts, log_fault
from weighbeam.store.database import Store

SECRETS = st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF, exclude_categories=["C", "Z"]), min_size=8)
WORDS = st.text(st.characters(codec="utf-8"), max_size=20)


@pytest.fixture(autouse=True)
def as_before(monkeypatch):
    ours, root = logging.getLogger("weighbeam"), logging.getLogger()
    kept = ours.handlers, ours.level, ours.propagate, root.handlers, root.level
    for name, value in ((sys, "excepthook"), (threading, "excepthook"), (logging, "raiseExceptions")):
        monkeypatch.setattr(name, value, getattr(name, value))
    yield
    ours.handlers, ours.level, ours.propagate, root.handlers, root.level = kept
    logging.captureWarnings(False)


def listen(form: str = "json", secrets=(), level: str = "DEBUG") -> io.StringIO:
    heard = io.StringIO()
    start_logging(LogSection(format=form, level=level), secrets, heard)
    return heard


def load(**sections) -> LoadedSettings:
    return LoadedSettings(Settings(**sections), Path(), {})


def test_an_alert_has_its_code_mechanism_and_remedy_as_keys(tmp_path: Path) -> None:
    heard, store = listen(), Store(f"sqlite:///{tmp_path / 'a.db'}")
    Alerts(store, time.time).tell("degraded_mode", "warning", "DEGRADED MODE: so it is", "chunking")
    log_fault(WeighbeamError("store_fault", "full", "free space"), "inference")
    log_fault(RuntimeError("odd"))
    store.close()
    alert, fault, odd = map(json.loads, heard.getvalue().splitlines())
    assert (alert["code"], alert["mechanism"], alert["level"]) == ("degraded_mode", "chunking", "WARNING")
    assert alert["remedy"] == "see why weights did not land: weighbeam journal weights"
    assert (fault["code"], fault["mechanism"], fault["remedy"]) == ("store_fault", "inference", "free space")
    assert odd["code"] == "RuntimeError"
    assert "odd" in odd["text"]


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_record_is_one_line_whatever_it_holds(form: str) -> None:
    heard = listen(form)
    LOG.warning("%s", "first\nERROR forged\r\x1b[31m\u2028\x85 end")
    LOG.error("boom", exc_info=ValueError("two\nlines"))
    LOG.error("wrong %d", "number")
    lines = heard.getvalue().split("\n")
    assert len(lines) == 4
    assert "could not be formatted: TypeError" in lines[2]
    assert not any(c < " " or c in "\x85\u2028" for line in lines for c in line)


def test_a_line_for_programs_is_strict_json() -> None:
    heard = listen()
    LOG.warning("odd", extra={"share": float("nan"), "most": [float("inf")]})
    told = json.loads(heard.getvalue(), parse_constant=lambda name: pytest.fail(name))
    assert (told["share"], told["most"]) == ("nan", ["inf"])


def test_colours_are_for_terminals_alone() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    plain, terminal = listen("text"), Terminal()
    LOG.warning("plain")
    start_logging(LogSection(), (), terminal)
    LOG.warning("coloured")
    assert "\x1b" not in plain.getvalue()
    assert "\x1b[33mWARNING\x1b[0m coloured" in terminal.getvalue()


def test_libraries_are_heard_from_warning_on() -> None:
    heard = listen(level="ERROR")
    logging.getLogger("uvicorn.error").setLevel(logging.NOTSET)
    for name in ("uvicorn.error", "bittensor", "apprise"):
        logging.getLogger(name).info("chatter")
        logging.getLogger(name).warning("trouble")
    LOG.warning("below our level")
    assert [json.loads(line)["logger"] for line in heard.getvalue().splitlines()] == [
        "uvicorn.error",
        "bittensor",
        "apprise",
    ]


SHAPED = (
    "wb_a1b2c3d4_Zm9vYmFyYmF6",
    "Bearer abc.def-ghi",
    "bearer 0123456789abcdef",
    "https://user:passw0rd@host.example/x",
    "postgresql://me:passw0rd@db/x",
    "https://host.example/x?token=passw0rd",
    "//Alice",
    "//Bob//stash/0",
)


@pytest.mark.parametrize("shaped", SHAPED)
def test_what_looks_like_a_secret_is_hidden_wherever_it_comes_from(shaped: str) -> None:
    heard = listen()
    LOG.warning("got %s, refused", shaped, extra={"inner": {"list": [shaped]}})
    line = heard.getvalue()
    assert shaped not in line
    assert "passw0rd" not in line
    assert "refused" in line
    assert HIDDEN in line


def test_what_looks_like_none_stays() -> None:
    heard = listen("text")
    told = (
        "journal sqlite:////var/x.db, node ws://127.0.0.1:9944/a//b, 5F3sa2TJAWMqDhXG6jhV4N8ko9SxwGy8TpaNS1repo5EYjQX"
    )
    LOG.info(told)
    assert told in heard.getvalue()


@settings(max_examples=60)
@given(secret=SECRETS, around=WORDS, form=st.sampled_from(["text", "json"]))
def test_no_secret_of_the_settings_is_ever_in_the_log(secret: str, around: str, form: str) -> None:
    loaded = load(
        wallet={"uri": secret},
        challenges={"token": secret + "1"},
        validator={"copies_token": "x" + secret},
        alerts={"urls": [f"json://{secret}", secret]},
    )
    heard = listen(form, list_secrets(loaded, {}))
    try:
        try:
            raise KeyError(secret)
        except KeyError as inner:
            raise WeighbeamError("odd", f"{around}{secret}{around}", secret) from inner
    except WeighbeamError as fault:
        log_fault(fault, secret)
        LOG.error("%s", fault, exc_info=fault)
    LOG.info("%s%s%s %r", around, secret, around, secret)
    LOG.info(secret, extra={"one": secret, secret: {"two": [secret, (secret,), {secret}, secret.encode()]}})
    LOG.info("%d", secret)
    LOG.info(f"{loaded.settings!r} {loaded.settings.model_dump()}")
    logging.getLogger(secret).warning("%s", {"a": secret})
    out = heard.getvalue()
    said = out if form == "text" else "\n".join(str(json.loads(line)) for line in out.splitlines())
    assert secret not in out
    assert secret not in said
    assert repr(secret)[1:-1] not in said
    assert json.dumps(secret)[1:-1] not in out


def test_parts_of_an_address_alerts_go_to_are_secrets_too() -> None:
    loaded = load(alerts={"urls": ["tgram://12345:abcdefgh/-100200300", "mailto://ops:hunter2hunter@mail.example"]})
    heard = listen("text", list_secrets(loaded, {}))
    LOG.warning("HTTPSConnectionPool(host='api.telegram.org'): url: /bot12345:abcdefgh/getMe; login hunter2hunter")
    assert "abcdefgh" not in heard.getvalue()
    assert "hunter2hunter" not in heard.getvalue()
    assert "api.telegram.org" in heard.getvalue()


@pytest.mark.parametrize("token", ["o.gn5kj6nfhv736I7jC3cj3QLRiyhgl98b", "abc.def.ghi"])
@pytest.mark.parametrize("scheme", ["pbul", "wxteams", "unheard"])
def test_a_token_with_a_dot_is_no_host(scheme: str, token: str) -> None:
    """Pushbullet's tokens begin with `o.`, where other services have the name of a machine."""
    url = f"{scheme}://{token}/channel"
    assert token not in hide_address(url)
    heard = listen(secrets=list_secrets(load(alerts={"urls": [url]})))
    LOG.warning("the service refused %s", token)
    assert token not in heard.getvalue()


def test_keys_of_the_environment_and_the_stores_password_are_hidden() -> None:
    loaded = load(store={"url": "postgresql://me:sw0rdfish@db/x"})
    given = {"WEIGHBEAM_NARRATOR_KEY": "sk-verysecret", "PGPASSWORD": "s3sam", "OPENAI_API_KEY": "None"}
    assert set(list_secrets(loaded, given)) == {"sw0rdfish", "sk-verysecret", "s3sam"}, "a short one is one too"
    elsewhere = load(store={"url": "postgresql://db/x?user=me&password=sw0rdfish"})
    assert list_secrets(elsewhere, {"AWS_SECRET_ACCESS_KEY": "opensesame"}) == ("sw0rdfish", "opensesame")


def test_a_refused_setting_shows_no_secret() -> None:
    with pytest.raises(WeighbeamError) as told:
        load_settings(None, {"WEIGHBEAM_ALERTS__URLS": '[["json://s3cr3t-token"]]'})
    assert "s3cr3t" not in str(told.value)
    shown = list_settings(load(alerts={"urls": ["json://s3cr3t-token"]}))
    assert "s3cr3t" not in json.dumps([line.value for line in shown])


def test_what_nobody_catches_goes_the_same_way() -> None:
    script = (
        "from weighbeam.app.logs import start_logging\nfrom weighbeam.app.settings.sections import LogSection\n"
        "start_logging(LogSection(format='json'), ['hunter2hunter'])\nraise ValueError('hunter2' + 'hunter')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert "hunter2hunter" not in done.stderr
    assert json.loads(done.stderr)["level"] == "CRITICAL"
