"""`weighbeam score` as its users run it: a real process, real files, real embeddings."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from command import weighbeam
from tests_root import ROOT
from warm import weighbeam_warm

EXAMPLE = ROOT / "examples/chunking.json"
DOCUMENT = ROOT / "examples/document.txt"


@pytest.fixture(autouse=True)
def _cache(cache: Path) -> None:
    """Commands share the cache of the test run."""


def scored(*arguments: object) -> dict:
    done = weighbeam_warm("score", "chunking", *arguments, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def write(path: Path, value: object) -> Path:
    path.write_text(json.dumps(value))
    return path


def test_json_has_the_documented_form() -> None:
    report = scored(EXAMPLE)
    assert set(report) >= {"answers", "best", "params_hash"}
    rows = {row["hotkey"]: row for row in report["answers"]}
    for row in rows.values():
        assert set(row) >= {"hotkey", "status", "reward", "failure", "parts", "spans", "place"}
    assert report["answers"][report["best"]]["hotkey"] == "by-topic"
    assert rows["by-topic"]["reward"] == rows["copycat"]["reward"]
    assert rows["by-topic"]["place"] == rows["copycat"]["place"] == 0.5
    assert rows["slowpoke"]["reward"] < rows["by-topic"]["reward"]
    assert rows["word-inventor"]["failure"] == "new_words"
    assert rows["word-inventor"]["reward"] == 0.0
    assert rows["word-inventor"]["trouble"]["text"] == "allegedly"
    assert rows["shuffler"]["failure"] == "out_of_order"
    assert rows["dropper"]["failure"] == "missing_words"
    document = json.loads(EXAMPLE.read_text())["document"]
    assert "".join(document[a:b] for a, b in rows["by-topic"]["spans"]) == document


def test_the_same_question_gives_the_same_bytes() -> None:
    assert (
        weighbeam("score", "chunking", EXAMPLE, "--json").stdout
        == weighbeam_warm("score", "chunking", EXAMPLE, "--json").stdout
    )


def test_parameters_change_the_result_and_its_hash(tmp_path: Path) -> None:
    plain, strict = scored(EXAMPLE), scored(EXAMPLE, "--set", "shape=exp", "--set", "num_embeddings=10")
    assert plain["params_hash"] != strict["params_hash"]
    assert all(row["reward"] >= 0 for row in strict["answers"])
    toml = tmp_path / "params.toml"
    toml.write_text('shape = "exp"\nnum_embeddings = 10\n')
    same = scored(EXAMPLE, "--params", toml)
    assert same == strict
    assert scored(EXAMPLE, "--params", write(tmp_path / "p.json", {"shape": "exp", "num_embeddings": 10})) == strict


def test_a_text_and_a_folder_of_chunkings(tmp_path: Path) -> None:
    text = DOCUMENT.read_text()
    paragraphs = text.split("\n\n")
    write(tmp_path / "paragraphs.json", paragraphs)
    write(tmp_path / "late.json", {"chunks": paragraphs, "seconds": 9})
    report = scored(DOCUMENT, "--chunks", tmp_path, "--chunk-size", 1000, "--chunk-qty", 20)
    assert {row["hotkey"]: row["place"] for row in report["answers"]} == {"late": 1.0, "paragraphs": 0.0}
    assert report["limits"] == {"chunk_size": 1000, "chunk_qty": 20, "time_soft_max": 3.75}


def test_every_chunker_cuts_a_text() -> None:
    report = scored(DOCUMENT, "--chunker", "all", "--chunk-size", 1500)
    states = {row["hotkey"]: row["failure"] for row in report["answers"]}
    assert states.pop("chonkie-token") == "new_words"
    assert set(states) == {
        "sentences", "paragraphs", "climb", "semantic-text-splitter", "chonkie-recursive", "chonkie-sentence",
        "semchunk", "langchain-recursive",
    }  # fmt: skip
    assert set(states.values()) == {None}
    similarity = {row["hotkey"]: row["parts"]["similarity"] for row in report["answers"] if row["parts"]}
    assert similarity["climb"] == max(similarity.values())


def test_the_table_and_the_tree_are_readable_by_people() -> None:
    done = weighbeam("score", "chunking", EXAMPLE, "--explain")
    assert done.returncode == 0
    assert "reward = similarity × factor" in done.stdout
    assert "⟦allegedly⟧" in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 80
    one = weighbeam("score", "chunking", EXAMPLE, "--only", "dropper").stdout
    assert "missing_words" in one
    assert "reward = similarity" not in one


def test_a_third_party_mechanism_is_scored_like_a_built_in_one(tmp_path: Path) -> None:
    question = {"keywords": ["tide"], "answers": [{"hotkey": "a", "text": "the tide"}, {"hotkey": "b", "text": "sun"}]}
    path = write(tmp_path / "q.json", question)
    done = weighbeam_warm("score", "keyword-recall", path, "--json")
    assert [row["value"] for row in json.loads(done.stdout)["answers"]] == [1.0, 0.0]
    assert "keyword-recall" in weighbeam_warm("score", "--help").stdout
    assert "recall × brevity" in weighbeam_warm("score", "keyword-recall", path, "--explain").stdout


def test_terminal_codes_of_a_miner_are_shown_not_obeyed(tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J[red]bold[/red]"
    question = {
        "document": "One two three.",
        "answers": [{"hotkey": evil, "chunks": [f"One {evil}."]}, {"hotkey": "ok", "chunks": ["One two three."]}],
    }
    done = weighbeam_warm("score", "chunking", write(tmp_path / "q.json", question), "--explain")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "\x07" not in done.stdout
    assert "[red]" in done.stdout


GOOD = {"document": "One two three.", "answers": [{"chunks": ["One two three."]}]}


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ({**GOOD, "document": ""}, "empty_document"),
        ({**GOOD, "document": None}, "bad_document"),
        ({**GOOD, "document": ["a"]}, "bad_document"),
        ({**GOOD, "document": "a " * 600_000}, "bad_document"),
        ({**GOOD, "answers": []}, "no_answers"),
        ({**GOOD, "answers": "x"}, "no_answers"),
        ({**GOOD, "answers": ["x"]}, "bad_answer"),
        ({"document": "One."}, "no_answers"),
        ({**GOOD, "chunk_size": 0}, "bad_chunk_size"),
        ({**GOOD, "chunk_size": "big"}, "bad_chunk_size"),
        ({**GOOD, "chunk_qty": 1.5}, "bad_chunk_qty"),
        ({**GOOD, "time_soft_max": -1}, "bad_time_soft_max"),
        ({**GOOD, "seed": [1]}, "bad_seed"),
        ({**GOOD, "seed": "\ud800"}, "bad_seed"),
        ({**GOOD, "answers": [{"chunks": ["One"], "seconds": "soon"}]}, "bad_seconds"),
        ({**GOOD, "answers": [{"chunks": ["One"], "hotkey": 5}]}, "bad_hotkey"),
        ({**GOOD, "answers": [{"chunks": ["One"], "hotkey": "\ud800"}]}, "bad_hotkey"),
        ({**GOOD, "answers": [{"chunks": ["One"], "seconds": 10**400}]}, "bad_seconds"),
        ({**GOOD, "answers": [{"hotkey": "a", "chunks": []}] * 2}, "duplicate_hotkey"),
        ([1, 2], "bad_question"),
        ("{not json", "not_json"),
        ('{"document": NaN}', "not_json"),
        ("[" * 100_000, "not_json"),
        (b"\xff\xfe\x00", "not_utf8"),
        (b"", "not_json"),
    ],
)
def test_bad_questions_end_in_one_clear_message(content: object, code: str, tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    done = weighbeam_warm("score", "chunking", path)
    assert done.returncode == 2
    assert f"[{code}]" in done.stderr
    assert "remedy: " in done.stderr
    assert "Traceback" not in done.stderr
    told = json.loads(weighbeam_warm("score", "chunking", path, "--json").stdout)
    assert told["error"] == code
    assert told["remedy"]


@pytest.mark.parametrize(
    ("chunks", "failure"),
    [(None, "no_chunks"), ([], "no_chunks"), ([1], "malformed"), ("text", "malformed"), ([["a"]], "malformed")],
)
def test_bad_chunks_are_the_miner_s_failure_not_an_error(chunks: object, failure: str, tmp_path: Path) -> None:
    path = write(tmp_path / "q.json", {**GOOD, "answers": [{"chunks": chunks}]})
    assert [row["failure"] for row in scored(path)["answers"]] == [failure]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["chunking", "/no/such/file.json"], "no_such_file"),
        (["chunking", "/no/such/file.txt"], "no_such_file"),
        (["chunking", "/"], "no_answers"),
        (["nothing", "x.json"], "unknown_mechanism"),
        (["any-other", "x.json"], "unknown_mechanism"),
        (["chunking", EXAMPLE, "--chunker", "nope"], "unknown_chunker"),
        (["chunking", EXAMPLE, "--chunks", "/no/such/folder"], "no_such_folder"),
        (["chunking", EXAMPLE, "--set", "alpha"], "bad_setting"),
        (["chunking", EXAMPLE, "--set", "alpha=2"], "bad_params"),
        (["chunking", EXAMPLE, "--set", "nope=2"], "bad_params"),
        (["chunking", EXAMPLE, "--params", "/no/such/file"], "no_such_file"),
        (["chunking", EXAMPLE, "--embedder", "nope"], "unknown_embedder"),
        (["chunking", EXAMPLE, "--only", "nobody"], "unknown_hotkey"),
        (["chunking", EXAMPLE, "--chunk-size", "0"], "bad_chunk_size"),
        (["chunking", DOCUMENT], "no_answers"),
        (["chunking", EXAMPLE, "--set", "size_factor=1e308"], "bad_params"),
        (["chunking", EXAMPLE, "--set", "alpha=" + "[" * 99_999], "bad_params"),
        (["chunking", EXAMPLE, "--chunks", "a" * 300], "no_such_folder"),
        (["chunking", "a" * 300], "unreadable_file"),
        (["chunking", DOCUMENT, "--chunk-size", 10**23, "--chunker", "chonkie-sentence"], "chunker_failed"),
        (["chunking", EXAMPLE, "--json", "--only", "nobody"], "unknown_hotkey"),
    ],
)
def test_bad_arguments_end_in_one_clear_message(arguments: list[object], code: str) -> None:
    done = weighbeam_warm("score", *arguments)
    assert done.returncode == 2
    assert f"[{code}]" in done.stderr or json.loads(done.stdout)["error"] == code
    assert "remedy" in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_limits_too_large_for_a_float_are_no_limits(tmp_path: Path) -> None:
    question = {**GOOD, "chunk_size": 10**400, "chunk_qty": 10**400}
    assert scored(write(tmp_path / "q.json", question))["answers"][0]["status"] == "valid"


def test_a_lone_surrogate_in_a_chunk_is_the_miner_s_failure(tmp_path: Path) -> None:
    report = scored(write(tmp_path / "q.json", {**GOOD, "answers": [{"chunks": ["One \ud800"]}]}))
    assert report["answers"][0]["failure"] == "malformed"


def test_a_fifty_megabyte_document_is_refused_without_being_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "huge.txt"
    with path.open("wb") as file:
        file.truncate(50_000_000)
    done = weighbeam_warm("score", "chunking", path, "--chunker", "sentences")
    assert done.returncode == 2
    assert "[file_too_large]" in done.stderr
    question = tmp_path / "huge.json"
    question.write_text(json.dumps({**GOOD, "document": "word " * 10_000_000}))
    done = weighbeam_warm("score", "chunking", question)
    assert done.returncode == 2
    assert "[bad_document]" in done.stderr


def test_a_closed_pipe_is_no_traceback() -> None:
    command = f"{sys.executable} -m weighbeam score chunking {EXAMPLE} --explain | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("content", ["x = " + "[" * 50_000, "x = " + "9" * 5000, "not toml"])
def test_parameters_that_are_no_toml(content: str, tmp_path: Path) -> None:
    path = tmp_path / "params.toml"
    path.write_text(content)
    done = weighbeam_warm("score", "chunking", EXAMPLE, "--params", path)
    assert done.returncode == 2
    assert "[bad_params]" in done.stderr


def test_a_wrong_option_is_json_when_asked_for() -> None:
    done = weighbeam_warm("score", "chunking", EXAMPLE, "--chunk-size", "abc", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"] == "bad_usage"
    assert "--chunk-size" in weighbeam_warm("score", "chunking", EXAMPLE, "--chunk-size", "abc").stderr


def test_misspelt_keys_do_not_pass_in_silence(tmp_path: Path) -> None:
    question = {"document": "One.", "chunksize": 4, "answers": [{"chunks": ["One."], "chunk": []}]}
    path = write(tmp_path / "q.json", question)
    assert scored(path)["ignored"] == ["chunksize", "answers[].chunk"]
    assert "chunksize" in weighbeam_warm("score", "chunking", path).stderr


def test_chunkers_are_charged_for_their_time_only_when_asked() -> None:
    free = scored(DOCUMENT, "--chunker", "climb")["answers"][0]
    timed = scored(DOCUMENT, "--chunker", "climb", "--timed", "--time-soft-max", 0)["answers"][0]
    assert free["seconds"] == 0.0
    assert timed["seconds"] > 0
    assert timed["reward"] < free["reward"]


def test_the_runtime_reports_nothing_to_its_maker(tmp_path: Path) -> None:
    path = write(tmp_path / "q.json", GOOD)
    home = tmp_path / "home"
    home.mkdir()
    environment = {"HOME": str(home), "XDG_CACHE_HOME": str(home / ".cache")}
    assert weighbeam("score", "chunking", path, **environment).returncode == 0
    assert [found for found in home.rglob("*") if "onnxruntime" in found.name or "Microsoft" in found.name] == []


def test_the_table_fits_eighty_columns() -> None:
    shown = weighbeam_warm("score", "chunking", EXAMPLE, "--chunker", "all", COLUMNS="80").stdout
    assert "chunks" in shown
    assert "…" not in shown


def test_a_terminal_without_unicode_is_no_traceback() -> None:
    done = weighbeam("score", "chunking", EXAMPLE, "--explain", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "by-topic" in done.stdout


HOSTILE = "</style><script>window.pwned=1</script>"


def test_scores_are_saved_as_a_page_that_runs_nothing(tmp_path: Path) -> None:
    question = json.loads(EXAMPLE.read_text())
    question["answers"] = [row for row in question["answers"] if row["hotkey"] in ("by-topic", "shuffler")]
    question["answers"][0]["hotkey"] = HOSTILE
    file, page = write(tmp_path / "question.json", question), tmp_path / "scores.html"
    assert scored(file, "--html", page)["html"] == str(page)
    html = page.read_text("utf-8")
    assert "default-src 'none'; style-src 'unsafe-inline'" in html
    assert "<script" not in html
    assert html.count("<svg") == 4
    assert "How alike the segments are" in html
    assert "out_of_order" in html
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))


def test_any_mechanism_saves_its_scores_as_a_page(tmp_path: Path) -> None:
    page = tmp_path / "scores.html"
    done = weighbeam_warm("score", "inference", ROOT / "examples/inference.json", "--html", page)
    assert done.returncode == 0, done.stdout + done.stderr
    assert str(page) in done.stdout.replace("\n", "")
    assert "<details" in page.read_text("utf-8")


def test_a_page_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    for file in (tmp_path / "scores.txt", tmp_path / "nowhere" / "scores.html"):
        done = weighbeam_warm("score", "chunking", EXAMPLE, "--html", file)
        assert done.returncode != 0
        assert "bad_page" in done.stdout + done.stderr
