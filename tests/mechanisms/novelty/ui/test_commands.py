"""`weighbeam novelty` from an empty folder to an audited ledger, and everything a user can get wrong."""

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from mechanisms.novelty.desk.books import check_books
from mechanisms.novelty.desk.desks import BRIDGE, DRIFT, KEY, NOISE, OTTERS, fill_desk
from weighbeam.cli.main import app
from weighbeam.mechanisms.novelty.desk.opening import view_kept
from weighbeam.mechanisms.novelty.identity import digest_form
from weighbeam.mechanisms.novelty.scale import parse_scale
from weighbeam.senses import local
from weighbeam.senses.local import LocalSenses


@pytest.fixture(autouse=True)
def _one_model(senses: LocalSenses, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real embedder, loaded once for all commands of this process."""
    load = local.load_embedder
    inner = senses.embedder.inner
    monkeypatch.setattr(local, "load_embedder", lambda name, *rest: inner if name == inner.id else load(name, *rest))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, senses: LocalSenses) -> Path:
    folder = tmp_path_factory.mktemp("filled")
    fill_desk(folder, senses).store.close()
    key = folder / "novelty.key"
    key.write_text(f"{bytes(range(32)).hex()}\n{KEY.address}\n")
    key.chmod(0o600)
    shutil.copytree(folder, folder.with_name("untouched"))
    return folder / "novelty.db"


@pytest.fixture(scope="module")
def untouched(filled: Path) -> Path:
    """The same store before any command opened it: a desk opened with other parameters keeps those as well."""
    return filled.parent.with_name("untouched") / filled.name


def run(*arguments: object, given: bytes | None = None) -> Result:
    done = CliRunner(env={"COLUMNS": "120"}).invoke(app, ["novelty", *map(str, arguments)], input=given)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def said(*arguments: object, given: bytes | None = None, code: int = 0) -> Any:
    done = run(*arguments, "--json", given=given)
    assert done.exit_code == code, done.output
    return json.loads(done.output)


def dump(path: Path) -> list[str]:
    """All that a store holds, but for the parameters desks were opened with."""
    with sqlite3.connect(path) as db:
        return [line for line in db.iterdump() if "novelty:params" not in line]


def test_from_nothing_to_paid_and_audited(here: Path) -> None:
    first = said("submit", OTTERS, "--contributor", "ada", "--key", "k1")
    assert (first["status"], first["units"], first["nearest"]) == ("paid", 100 * 10**9, None)
    assert said("submit", OTTERS, "--contributor", "ada", "--key", "k1") == first
    Path("drift.txt").write_text(DRIFT)
    second = said("submit", "--file", "drift.txt", "--contributor", "bob")
    assert (second["status"], second["nearest"]) == ("paid", 1)
    assert second["units"] == 0
    assert second["similarity"] > 950_000 > second["micro"]
    third = said("submit", "-", "--contributor", "eve", given=NOISE.encode())
    assert third["status"] == "held"
    checked = said("check", BRIDGE)
    assert (checked["status"], checked["units"], checked["held"]) == ("paid", 100 * 10**9, False)
    assert said("balances", "eve") == {"contributor": "eve", "units": 0, "held": 100 * 10**9}
    assert said("reject", 3)["status"] == "rejected"
    assert said("release", 3, code=2)["error"] == "not_held"
    assert said("withdraw", 2) == {"id": 2, "withdrawn": True}
    history = said("history", "--status", "rejected")["history"]
    assert [row["id"] for row in history] == [3]
    totals = said("balances")["totals"]
    assert totals["treasury"] == -first["units"] - second["units"]
    Path("receipt.json").write_text(json.dumps(said("receipt", 3)))
    assert said("verify", "receipt.json", "--node", first["node"]) == {"valid": True, "node": first["node"]}
    report = said("audit", "--deep", "--node", first["node"])
    assert (report["sound"], report["faults"], report["contributions"]) == (True, [], 3)
    assert (here / "novelty.key").stat().st_mode & 0o777 == 0o600


def test_people_read_tables(filled: Path) -> None:
    shown = run("balances", "--store", filled)
    assert "ada" in shown.output
    assert "treasury: -" in shown.output
    assert "000000" not in shown.output, "tokens, not units"
    history = run("history", "--store", filled).output
    assert "released" in history
    rows = said("history", "--store", filled)["history"]
    receipts = [said("receipt", row["id"], "--store", filled)["receipt"] for row in rows]
    looked = [(row, one["similarity"]) for row, one in zip(rows, receipts, strict=True) if "similarity" in one]
    assert [row["similarity"] for row, _ in looked] == [paid_for for _, paid_for in looked], "and not the cosine"
    assert any(row["similarity"] != row["micro"] for row, _ in looked)
    told = run("receipt", 4, "--store", filled).output
    assert "contribution 4 of eve: held, 100 tokens" in told
    assert "novelty release 4" in told
    assert "\nreleased: " in run("receipt", 5, "--store", filled).output
    assert "would be duplicate: 0 tokens" in run("check", OTTERS, "--store", filled).output
    assert "6 contributions, 5 pieces, 4 entries: 0 faults" in run("audit", "--store", filled).output


def test_history_goes_back_page_by_page(filled: Path) -> None:
    ids = [row["id"] for row in said("history", "--store", filled, "--limit", 2)["history"]]
    assert ids == [6, 5]
    assert [r["id"] for r in said("history", "--store", filled, "--before", 5)["history"]] == [4, 3, 2, 1]
    assert [r["id"] for r in said("history", "--store", filled, "--contributor", "eve")["history"]] == [6, 5, 4, 3]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"", "too_short"),
        (b" \n\t ", "too_short"),
        ("\u200b \u2060 \u00ad".encode(), "too_short"),
        (b"word " * 200_000, "too_long"),
        (b"x" * 4_000_001, "file_too_large"),
        (b"a bell \x07 in a text", "bad_text"),
        (b"a null \x00 in a text", "bad_text"),
        (b"\xff\xfe no text at all", "not_utf8"),
        ("\ufdfa".encode() * 2000 + b" and two more", "too_long"),
    ],
)
@pytest.mark.parametrize("command", [("submit", "--contributor", "ada"), ("check",)])
def test_texts_that_cannot_be_taken(command: tuple[str, ...], text: bytes, code: str, filled: Path) -> None:
    refused = said(*command, "-", "--store", filled, given=text, code=2)
    assert refused["error"] == code
    assert refused["remedy"]


@pytest.mark.parametrize(
    "text",
    [
        OTTERS.upper(),
        f"  {OTTERS}\n",
        OTTERS.replace(" ", "\u2003"),
        OTTERS.replace("otters", "ot\u200bters"),
        "".join(chr(ord(c) + 0xFEE0) if c.isalpha() else c for c in OTTERS),
    ],
)
def test_the_same_text_in_another_dress_is_a_duplicate(text: str, filled: Path) -> None:
    assert digest_form(text) == digest_form(OTTERS)
    found = said("check", text, "--store", filled)
    assert (found["status"], found["units"], found["nearest"]) == ("duplicate", 0, 1)


def test_settings_that_lie_here_hold_here_too(here: Path) -> None:
    """Their budget, their store, and the key that serves under them."""
    (here / "weighbeam.toml").write_text('[store]\nurl = "sqlite:///own.db"\n[novelty]\nday_limit = 150\n')
    first = said("submit", OTTERS, "--contributor", "ada")
    assert (first["units"], (here / "own.db").is_file(), (here / "novelty.key").is_file()) == (100 * 10**9, True, True)
    assert said("submit", BRIDGE, "--contributor", "bob", code=2)["error"] == "budget_spent"
    assert said("submit", BRIDGE, "--contributor", "bob", "--per-day", "200.5")["units"] == 100 * 10**9
    assert said("submit", BRIDGE, "--contributor", "bob", "--store", here / "other.db")["units"] == 100 * 10**9


@pytest.mark.parametrize("amount", ["many", "-1", "nan", "1e99", "0.0000000001"])
def test_a_budget_is_an_amount_of_tokens(amount: str, here: Path) -> None:
    assert said("submit", OTTERS, "--contributor", "ada", "--per-day", amount, code=2)["error"] in (
        "bad_usage",
        "bad_config",
    )


def test_what_was_there_before_is_said_to_be(here: Path) -> None:
    for again in (False, True):
        told = run("submit", OTTERS, "--contributor", "ada", "--key", "k1").output
        assert ("nothing more is paid for contribution 1" in told) is again


def test_mistakes_are_named(filled: Path, here: Path) -> None:
    copy = here / "novelty.db"
    shutil.copy(filled, copy)
    shutil.copy(filled.with_name("novelty.key"), here)
    before = dump(copy)
    assert said("submit", BRIDGE, code=2)["error"] == "bad_usage"
    assert said("submit", "--contributor", "ada", code=2)["error"] == "bad_usage"
    assert said("submit", BRIDGE, "--contributor", " ", code=2)["error"] == "bad_contributor"
    assert said("submit", BRIDGE, "--contributor", "a\udcff", code=2)["error"] == "bad_contributor"
    assert said("submit", BRIDGE, "--contributor", "ada", "--key", "two words", code=2)["error"] == "bad_key"
    assert said("submit", BRIDGE, "--contributor", "ada", "--per-day", "0.000000005", code=2)["error"] == "budget_spent"
    assert said("submit", BRIDGE, "--contributor", "ada", "--set", "curve=1", code=2)["error"] == "bad_params"
    denied = ("--set", "gate=deny", "--contributor", "ada")
    assert said("submit", "zzqx vvkw ppqj rrtn mmbx", *denied, code=2)["error"] == "implausible"
    assert said("check", "zzqx vvkw ppqj rrtn mmbx", "--set", "gate=deny")["status"] == "refused"
    assert said("check", BRIDGE, "--embedder", "minilm-int8", code=2)["error"] == "embedder_changed"
    assert said("balances", "nobody", code=2)["error"] == "unknown_contributor"
    assert said("history", "--contributor", "nobody", code=2)["error"] == "unknown_contributor"
    assert said("receipt", 99, code=2)["error"] == "unknown_contribution"
    assert said("withdraw", 99, code=2)["error"] == "unknown_contribution"
    assert said("release", 1, code=2)["error"] == "not_held"
    assert dump(copy) == before
    assert said("submit", BRIDGE, "--contributor", "ada", "--key", "k")["status"] == "paid"
    assert said("submit", DRIFT, "--contributor", "ada", "--key", "k", code=2)["error"] == "key_conflict"
    assert said("submit", BRIDGE, "--contributor", "bob", "--key", "k", code=2)["error"] == "key_conflict"
    store = view_kept(str(copy))
    with store.read() as connection:
        assert list(check_books(connection)) == []


def test_reading_makes_nothing(here: Path) -> None:
    for command in (["check", BRIDGE], ["balances"], ["history"], ["receipt", 1], ["release", 1], ["withdraw", 1],
                    ["audit"], ["export", "e.jsonl"], ["plot", "c.svg"], ["verify", "r.json"]):  # fmt: skip
        assert said(*command, code=2)["error"] == "no_such_file"
    assert list(here.iterdir()) == []


def test_checking_writes_nothing(filled: Path, here: Path) -> None:
    shutil.copy(filled, here / "novelty.db")
    (here / "q.json").write_text(json.dumps({"texts": [BRIDGE, OTTERS, "short", 7]}))
    with sqlite3.connect("novelty.db") as db:
        before = list(db.iterdump())
    said("check", BRIDGE, "--set", "max_reward=7")
    done = CliRunner().invoke(app, ["score", "novelty", "q.json", "--corpus", "novelty.db", "--json"])
    rows = json.loads(done.output)
    assert [(row["units"], row["nearest"], row["held"]) for row in rows[1:]] == [
        (0, 1, False),
        (0, None, False),
        (0, None, False),
    ]
    assert rows[0]["units"] == 100 * 10**9
    assert rows[0]["novelty"] == 1 - rows[0]["max_similarity"]
    assert [row.get("error") for row in rows] == [None, None, "too_short", "bad_text"]
    tree = CliRunner().invoke(app, ["score", "novelty", "q.json", "--corpus", "novelty.db", "--explain"]).output
    assert "the same text as 1" in tree
    assert "0.01 × 10^" in tree
    with sqlite3.connect("novelty.db") as db:
        assert list(db.iterdump()) == before
    assert not (here / "novelty.key").exists()
    missing = CliRunner().invoke(app, ["score", "novelty", "q.json", "--corpus", "other.db", "--json"])
    assert (missing.exit_code, json.loads(missing.output)["error"]) == (2, "no_such_file")


def test_score_without_a_corpus_is_a_round_of_its_own(here: Path) -> None:
    (here / "q.json").write_text(json.dumps({"texts": [BRIDGE, BRIDGE.upper()]}))
    report = json.loads(CliRunner().invoke(app, ["score", "novelty", "q.json", "--json"]).output)
    (row,) = report["contributors"]
    assert [one["status"] for one in row["contributions"]] == ["paid", "duplicate"]


def test_a_journal_without_contributions_is_no_corpus(here: Path) -> None:
    from weighbeam.store.database import Store

    Store("sqlite:///journal.db").close()
    assert said("check", BRIDGE, "--store", "journal.db", code=2)["error"] == "no_corpus"


def test_export_import_plot(filled: Path, untouched: Path, here: Path) -> None:
    assert said("export", "e.jsonl", "--store", untouched, "--vectors")["lines"] == 35
    assert said("verify", "e.jsonl", "--deep", "--node", KEY.address)["sound"] is True
    lines = Path("e.jsonl").read_text().splitlines()
    Path("bad.jsonl").write_text("\n".join(lines).replace('"units": 100000000000', '"units": 1', 1) + "\n")
    assert said("verify", "bad.jsonl", code=1)["faults"]
    Path("texts.jsonl").write_text(json.dumps(OTTERS) + "\n{\n" + json.dumps({"text": BRIDGE}) + "\n")
    found = said("import", "texts.jsonl", "--store", "new.db", code=1)
    assert (found["imported"], [bad["line"] for bad in found["bad"]]) == (2, [2])
    assert said("balances", "--store", "new.db")["totals"]["treasury"] == 0
    assert said("import", "nothing.jsonl", "--store", "new.db", code=2)["error"] == "no_such_file"
    assert said("plot", "c.html", "--store", filled, "--curve", "fitted")["file"] == "c.html"
    page = Path("c.html").read_text()
    assert "<title>Novelty</title>" in page
    assert "Pay for novelty" in page
    assert said("plot", "c.gif", "--store", filled, code=2)["error"] == "bad_picture"
    assert said("export", "nowhere/e.jsonl", "--store", filled, code=2)["error"] == "unwritable_file"


def test_a_receipt_that_was_changed_does_not_hold(filled: Path, here: Path) -> None:
    found = said("receipt", 1, "--store", filled)["receipt"]
    Path("r.json").write_text(json.dumps({**found, "units": found["units"] + 1}))
    assert said("verify", "r.json", code=1) == {
        "valid": False,
        "fault": "this receipt differs from what its node signed",
    }
    Path("r.json").write_text("[]")
    assert said("verify", "r.json", code=2)["error"] == "bad_receipt"
    Path("r.json").write_text('{"kind": "export"}')
    assert said("verify", "r.json", code=2)["error"] == "bad_export"


def test_with_settings_their_store_hotkey_and_parameters_count(here: Path) -> None:
    Path("node.toml").write_text(
        '[wallet]\nuri = "//Alice"\n[store]\nurl = "sqlite:///own.db"\n'
        "[mechanisms.novelty]\noverride_params = true\nparams = { max_reward = 7.0 }\n"
    )
    found = said("submit", OTTERS, "--contributor", "ada", "--config", "node.toml")
    assert (found["units"], found["scheme"]) == (7 * 10**9, "sr25519")
    assert found["node"] == "5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY"
    assert sorted(path.name for path in here.iterdir() if path.suffix in (".db", ".key")) == ["own.db"]
    assert said("audit", "--config", "node.toml")["sound"] is True


def test_a_key_others_may_read_and_a_store_that_is_none(here: Path) -> None:
    Path("novelty.key").write_text("secret")
    Path("novelty.key").chmod(0o644)
    assert said("submit", OTTERS, "--contributor", "ada", code=2)["error"] == "key_exposed"
    Path("novelty.key").unlink()
    Path("novelty.db").write_bytes(b"SQLite format 3\x00" + b"\xa5" * 5000)
    for command in (["submit", OTTERS, "--contributor", "ada"], ["balances"], ["audit"], ["check", OTTERS]):
        assert said(*command, code=2)["error"] == "store_unusable"


def test_calibrate_fits_a_scale_to_pairs(here: Path) -> None:
    """With the real embedder: by its scale repetitions are paid less than ten tokens, and strangers the cap."""
    same = [
        ("How can I learn to cook at home?", "What is the best way to learn cooking at home?"),
        ("Why do cats sleep so much?", "What makes cats sleep so often?"),
        ("The bridge was closed because of the storm.", "Because of the storm, the bridge was shut."),
        ("How do I save money for a house?", "What is a good way to save up for a house?"),
        ("The mayor opened the new library on Monday.", "On Monday the new library was opened by the mayor."),
        ("Is it safe to drink rain water?", "Can rain water be drunk safely?"),
        ("Bees tell each other where flowers are by dancing.", "By dancing, bees show each other where flowers are."),
        ("Which languages are spoken in Switzerland?", "What languages do people speak in Switzerland?"),
        ("The company cut two hundred jobs.", "Two hundred jobs were cut by the company."),
        ("How long does it take to fly to the moon?", "How much time does a flight to the moon take?"),
    ]
    pairs = [{"a": a, "b": b, "same": True} for a, b in same]
    pairs += [{"a": a, "b": same[place - 3][1], "same": False} for place, (a, _) in enumerate(same)]
    Path("pairs.jsonl").write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    fitted = said("calibrate", "pairs.jsonl", "--name", "mine-1")
    assert fitted["pairs"] == 20
    scale = parse_scale(fitted["scale"])
    assert fitted["scale"].startswith("mine-1: ")
    assert scale is not None
    embed = LocalSenses().embedder.embed
    ours, theirs = (embed([pair[side] for pair in pairs]).astype(float) for side in ("a", "b"))
    read = [scale.read(round(micro), len(pairs)) for micro in (ours * theirs).sum(axis=1) / 1e6]
    assert sum(similarity > 800_000 for similarity in read[:10]) >= 9
    assert max(read[10:]) < 750_000
    Path("few.jsonl").write_text(json.dumps(pairs[0]) + "\n")
    assert said("calibrate", "few.jsonl", code=2)["error"] == "bad_rows"
