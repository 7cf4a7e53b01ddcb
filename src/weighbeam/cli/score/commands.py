"""`weighbeam score MECHANISM FILE`: one factory makes the command of every installed mechanism."""

import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

from weighbeam.cli.common.extensions import (
    SCORES,
    explain_broken,
    load_extension,
    make_broken_command,
    make_command,
)
from weighbeam.cli.common.help import HelpGroup
from weighbeam.cli.common.options import AsJson, Explain, HtmlFile, Only, ParamsFile, SetOption, complete_mechanism
from weighbeam.cli.common.shell import make_app
from weighbeam.cli.score.command import ScoreCall, ScoreCommand
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.extras import require_extra


class MechanismGroup(HelpGroup):
    """A command for every registered mechanism."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return complete_mechanism("")

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        if cmd_name in complete_mechanism(""):
            return make_score_command(cmd_name)
        from weighbeam.mechanism.registry import load_mechanism

        return load_mechanism(cmd_name)  # Raises `unknown_mechanism`, whose remedy lists the others.


score_app = make_app("Score answers with the validator's own code.", cls=MechanismGroup)


def load_score_command(mechanism: str) -> ScoreCommand:
    """The mechanism's own, or the one that any mechanism has."""
    made = load_extension(SCORES, mechanism)
    if made is None:
        return ScoreCommand()
    with explain_broken(f"score {mechanism}", f"register a subclass of ScoreCommand as {SCORES}"):
        command = made()
        if not isinstance(command, ScoreCommand):
            raise TypeError(f"{made!r} makes a {type(command).__name__}")
        return command


@cache
def make_score_command(mechanism: str) -> Any:
    """`weighbeam score MECHANISM`, with the common options and the mechanism's own."""
    try:
        command = load_score_command(mechanism)
        with explain_broken(f"score {mechanism}", "give each parameter of run a default and an annotation"):
            return make_command(mechanism, _make_callback(mechanism, command))
    except WeighbeamError as fault:
        return make_broken_command(mechanism, fault)


def _make_callback(mechanism: str, command: ScoreCommand) -> Callable[..., None]:
    own = _list_own_options(command)

    def score(
        file: Path,
        as_json: bool,
        explain: bool,
        only: list[str] | None,
        params: Path | None,
        settings: list[str] | None,
        embedder: str | None,
        html: Path | None,
        **given: Any,
    ) -> None:
        from weighbeam.cli.common.overrides import load_overrides
        from weighbeam.mechanism.registry import load_mechanism

        if html is not None:
            require_extra("charts")
        overrides = load_overrides(params, settings)
        call = ScoreCall(load_mechanism(mechanism), file, as_json, explain, only or [], overrides, embedder, html)
        command.run(call, **given)

    # Typer makes the options of a command from the signature of its function.
    vars(score)["__signature__"] = inspect.Signature([*_list_first(command), *own, *_list_last(command)])
    score.__doc__ = command.run.__doc__
    return score


def _list_own_options(command: ScoreCommand) -> list[inspect.Parameter]:
    _, *own = inspect.signature(command.run, eval_str=True).parameters.values()
    return [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in own]


def _list_first(command: ScoreCommand) -> list[inspect.Parameter]:
    return [
        _option("file", Annotated[Path, typer.Argument(help=command.file_help)], inspect.Parameter.empty),
        _option("as_json", AsJson, False),
        _option("explain", Explain, False),
        _option("only", Only, None),
        _option("html", HtmlFile, None),
    ]


def _list_last(command: ScoreCommand) -> list[inspect.Parameter]:
    named = typer.Option("--embedder", help=command.embedder_help)
    return [
        _option("params", ParamsFile, None),
        _option("settings", SetOption, None),
        _option("embedder", Annotated[str | None, named], command.embedder),
    ]


def _option(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)
