"""`weighbeam score MECHANISM FILE`: what would this answer get, and why?"""

from copy import copy
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from weighbeam.cli.complete import complete_mechanism, complete_setting
from weighbeam.cli.shell import make_app, print_json

File = Annotated[Path, typer.Argument(help="A JSON question.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show how each score comes about.")]
Only = Annotated[list[str] | None, typer.Option("--only", metavar="HOTKEY", help="Explain only these answers.")]
ParamsFile = Annotated[Path | None, typer.Option("--params", help="JSON or TOML file of parameters.")]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Set one parameter.", autocompletion=complete_setting),
]
EmbedderName = Annotated[
    str, typer.Option("--embedder", help="minilm-fp32, minilm-int8, st:MODEL or openai:MODEL@URL.")
]

PLAIN = "any-other"


class MechanismGroup(TyperGroup):
    """Some mechanisms have a command of their own; any other registered one gets the plain one."""

    def list_commands(self, ctx: Any) -> list[str]:
        return sorted({*super().list_commands(ctx), *complete_mechanism("")} - {PLAIN})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in self.commands and cmd_name != PLAIN:
            return super().get_command(ctx, cmd_name)
        from weighbeam.mechanisms.registry import load_mechanism

        ctx.obj = load_mechanism(cmd_name)
        command = copy(self.commands[PLAIN])
        command.name, command.hidden = cmd_name, False
        return command


score_app = make_app("What would this answer get? Exactly the validator's code, on a file.", cls=MechanismGroup)


@score_app.command(PLAIN, hidden=True)
def score_plain(
    ctx: typer.Context,
    file: File,
    as_json: AsJson = False,
    explain: Explain = False,
    only: Only = None,
    params: ParamsFile = None,
    settings: Settings = None,
    embedder: EmbedderName = "minilm-fp32",
) -> None:
    """Score the answers of a JSON question."""
    from weighbeam.cli.overrides import read_overrides
    from weighbeam.cli.progress import open_senses
    from weighbeam.cli.show import check_hotkeys, show_scores, show_trees
    from weighbeam.engine.read_json import read_json
    from weighbeam.engine.what_if import score_question

    overrides = read_overrides(params, settings)
    with open_senses(embedder) as senses:
        result = score_question(ctx.obj, read_json(file), senses, overrides)
    check_hotkeys(result, only or [])
    if as_json:
        print_json(result.report())
        return
    show_scores(result)
    if explain or only:
        show_trees(result, only or [])


@score_app.command("chunking")
def score_chunking(
    file: Annotated[Path, typer.Argument(help="A JSON question, or a document as text or Markdown.")],
    as_json: AsJson = False,
    explain: Explain = False,
    only: Only = None,
    chunks: Annotated[Path | None, typer.Option(help="Folder of chunkings, one JSON file each.")] = None,
    chunker: Annotated[
        list[str] | None,
        typer.Option(
            help="Cut the document with this chunker: a name, `all` for every one installed, or FILE.py:function."
        ),
    ] = None,
    timed: Annotated[bool, typer.Option("--timed", help="Charge chunkers for the time they take.")] = False,
    chunk_size: Annotated[int | None, typer.Option(help="Most characters of a chunk.")] = None,
    chunk_qty: Annotated[int | None, typer.Option(help="Most chunks.")] = None,
    time_soft_max: Annotated[float | None, typer.Option(help="Seconds before time costs.")] = None,
    seed: Annotated[str | None, typer.Option(help="Seed of the sample of segments.")] = None,
    params: ParamsFile = None,
    settings: Settings = None,
    embedder: EmbedderName = "minilm-fp32",
) -> None:
    """Score chunkings of a document: a JSON question, or a text with --chunks or --chunker."""
    from weighbeam.cli.chunkings import add_chunkers, gather_question, list_unread
    from weighbeam.cli.overrides import read_overrides
    from weighbeam.cli.progress import open_senses
    from weighbeam.cli.show import check_hotkeys, show_chunking, show_trees
    from weighbeam.engine.what_if import score_question
    from weighbeam.mechanisms.registry import load_mechanism

    overrides = read_overrides(params, settings)
    limits = {
        "chunk_size": chunk_size,
        "chunk_qty": chunk_qty,
        "time_soft_max": time_soft_max,
        "seed": seed,
    }
    question = gather_question(file, chunks, limits)
    with open_senses(embedder) as senses:
        add_chunkers(question, chunker or [], senses, timed)
        result = score_question(load_mechanism("chunking"), question, senses, overrides)
    check_hotkeys(result, only or [])
    ignored = list_unread(question)
    if as_json:
        print_json({**result.report(), "ignored": ignored})
        return
    show_chunking(result, ignored, hint=not explain and not only)
    if explain or only:
        show_trees(result, only or [])


@score_app.command("inference")
def score_inference(
    file: File,
    as_json: AsJson = False,
    explain: Explain = False,
    only: Only = None,
    heatmap: Annotated[
        Path | None, typer.Option(help="Draw how alike the answers are: a .png, .svg or .html file.")
    ] = None,
    narrative: Annotated[bool, typer.Option("--narrative", help="Tell in words what happened.")] = False,
    narrator: Annotated[str, typer.Option(help="Who tells it: deterministic, or openai:MODEL@URL.")] = "deterministic",
    params: ParamsFile = None,
    settings: Settings = None,
    embedder: EmbedderName = "minilm-fp32",
) -> None:
    """Score free-text answers to a prompt by quality and agreement."""
    import secrets

    from weighbeam.cli.overrides import read_overrides
    from weighbeam.cli.progress import open_senses
    from weighbeam.cli.save_picture import save_picture
    from weighbeam.cli.show import check_hotkeys, show_trees
    from weighbeam.cli.show_inference import show_inference, show_narrative
    from weighbeam.engine.read_json import read_json
    from weighbeam.engine.what_if import score_question
    from weighbeam.mechanisms.registry import load_mechanism
    from weighbeam.operate.deliveries import open_narrator

    teller = open_narrator(narrator)
    overrides = read_overrides(params, settings)
    with open_senses(embedder) as senses:
        result = score_question(load_mechanism("inference"), read_json(file), senses, overrides)
    check_hotkeys(result, only or [])
    path = None if heatmap is None else save_picture(result.draw(file.stem), heatmap)
    told = result.tell(path, teller, secrets.token_hex(8)) if narrative else None
    report = result.report()
    if as_json:
        asked = {"heatmap": path} if path else {}
        print_json({**report, **asked, **({"narrative": told.text, "narrator": told.by} if told else {})})
        return
    show_inference(report, path)
    if told is not None:
        show_narrative(told)
    if explain or only:
        show_trees(result, only or [])


@score_app.command("novelty")
def score_novelty(
    file: File,
    corpus: Annotated[
        str | None, typer.Option(help="Compare with this desk's store: its file or database URL; nothing is inserted.")
    ] = None,
    as_json: AsJson = False,
    explain: Explain = False,
    only: Only = None,
    params: ParamsFile = None,
    settings: Settings = None,
    embedder: Annotated[str | None, typer.Option("--embedder", help="Else the corpus's own.")] = None,
) -> None:
    """Score texts by how new they are: in a round of their own, or with --corpus against what a desk holds."""
    from weighbeam.cli.overrides import read_overrides
    from weighbeam.cli.progress import open_senses
    from weighbeam.cli.score_corpus import check_texts, read_texts, show_rows
    from weighbeam.cli.show import check_hotkeys, show_scores, show_trees
    from weighbeam.engine.read_json import read_json
    from weighbeam.engine.what_if import score_question
    from weighbeam.mechanisms.registry import load_mechanism
    from weighbeam.senses.local import DEFAULT_EMBEDDER

    overrides, question = read_overrides(params, settings), read_json(file)
    if corpus is not None:
        rows = check_texts(corpus, read_texts(question), overrides, embedder)
        if as_json:
            print_json([row.as_json() for row in rows])
        else:
            show_rows(rows, explain)
        return
    with open_senses(embedder or DEFAULT_EMBEDDER) as senses:
        result = score_question(load_mechanism("novelty"), question, senses, overrides)
    check_hotkeys(result, only or [])
    if as_json:
        print_json(result.report())
        return
    show_scores(result)
    if explain or only:
        show_trees(result, only or [])


@score_app.command("evidence")
def score_evidence(
    file: File,
    as_json: AsJson = False,
    explain: Explain = False,
    only: Only = None,
    archive: Annotated[
        str | None,
        typer.Option(help="Read pages from this folder or WARC file, not from the web; `embedded` is the sample's."),
    ] = None,
    browser: Annotated[
        str | None, typer.Option(help="Read web pages as this browser shows them, such as chromium.")
    ] = None,
    lists: Annotated[Path | None, typer.Option(help="Folder of blacklist and approved list.")] = None,
    entailment: Annotated[str, typer.Option(help="nli-minilm or hf:MODEL.")] = "nli-minilm",
    params: ParamsFile = None,
    settings: Settings = None,
    embedder: EmbedderName = "minilm-fp32",
) -> None:
    """Score quotes from web pages by what they say about a statement."""
    from weighbeam.cli.overrides import read_overrides
    from weighbeam.cli.progress import open_senses
    from weighbeam.cli.show import check_hotkeys, show_trees
    from weighbeam.cli.show_evidence import show_evidence
    from weighbeam.engine.read_json import read_json
    from weighbeam.engine.what_if import score_question
    from weighbeam.mechanisms.registry import load_mechanism
    from weighbeam.operate.web import find_web, write_live

    overrides, question = read_overrides(params, settings), read_json(file)
    named = question.get("archive") if isinstance(question, dict) else None
    web = find_web(archive or (str(named) if named else None), lists, file.parent, write_live(browser=browser))
    with open_senses(embedder, entailment=entailment, **web) as senses:
        result = score_question(load_mechanism("evidence"), question, senses, overrides)
    check_hotkeys(result, only or [])
    report = result.report()
    if as_json:
        print_json(report)
        return
    show_evidence(report, hint=not explain and not only)
    if explain or only:
        show_trees(result, only or [])
