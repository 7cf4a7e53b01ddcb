"""`weighbeam round ROUND`: one round of a journal, scored again from its record."""

from typing import TYPE_CHECKING, Annotated

import typer

from weighbeam.cli.score import Explain, Only
from weighbeam.cli.settings import AsJson, ConfigOption, StoreOption, open_read
from weighbeam.cli.shell import make_printable, print_json

if TYPE_CHECKING:
    from weighbeam.engine.story import Extra


def show_round(
    round_id: Annotated[str, typer.Argument(metavar="ROUND", help="As weighbeam rounds names it.")],
    store: StoreOption = None,
    config: ConfigOption = None,
    explain: Explain = False,
    only: Only = None,
    as_json: AsJson = False,
) -> None:
    """One round: its scores, and its heatmap and narrative if it has them."""
    from weighbeam.cli.show import check_hotkeys, show_chunking, show_scores, show_trees
    from weighbeam.cli.show_evidence import show_evidence
    from weighbeam.cli.show_inference import show_inference
    from weighbeam.engine.story import read_extras
    from weighbeam.engine.what_if import recall_round
    from weighbeam.mechanisms.released import name_version, tell_version

    opened = open_read(store, config)
    result, extras = recall_round(opened, round_id), read_extras(opened, round_id)
    check_hotkeys(result, only or [])
    params = result.params.model_dump(mode="json")
    if as_json:
        told = {kind: {"value": one.value, "maker": one.maker, "fault": one.fault} for kind, one in extras.items()}
        known = name_version(result.mechanism.name, params)
        version = None if known is None else {"defaults_of": known[0], "but": known[1]}
        replies = {one.hotkey: {"status": one.status, "reason": one.reason} for one in result.answers}
        print_json(
            {"round": round_id, **result.report(), "replies": replies, "params_version": version, "extras": told}
        )
        return
    if result.mechanism.name == "chunking":
        show_chunking(result, [], hint=not explain and not only)
    elif result.mechanism.name == "inference":
        show_inference(result.report(), None)
    elif result.mechanism.name == "evidence":
        show_evidence(result.report(), hint=not explain and not only)
    else:
        show_scores(result)
    for one in result.answers:
        if one.status != "ok":
            why = f" ({make_printable(one.reason, 60)})" if one.reason else ""
            typer.echo(f"no answer from {make_printable(one.hotkey, 60)}: {one.status}{why}")
    typer.echo(f"parameters: {tell_version(result.mechanism.name, params)}")
    show_extras(extras)
    if explain or only:
        show_trees(result, only or [])


def show_extras(extras: "dict[str, Extra]") -> None:
    from weighbeam.cli.show_inference import show_narrative

    heatmap, narrative = extras.get("heatmap"), extras.get("narrative")
    if heatmap is not None:
        typer.echo(f"heatmap: {make_printable(heatmap.value or f'none ({heatmap.fault})', 300)}")
    if narrative is not None:
        show_narrative(narrative)
        if narrative.fault is not None:
            typer.echo(f"told by {narrative.maker}: {make_printable(narrative.fault, 200)}")
