"""`weighbeam novelty`: pay for novel text without a chain."""

import time
from decimal import Decimal
from typing import Annotated, ClassVar

import typer

from weighbeam.cli.common.help import HelpGroup
from weighbeam.cli.common.options import AsJson, ParamsFile, SetOption
from weighbeam.cli.common.shell import make_app, print_json
from weighbeam.mechanisms.novelty.ui.options import (
    ConfigOption,
    EmbedderName,
    Number,
    StoreOption,
    Text,
    TextFile,
    choose,
    load_input,
    parse_tokens,
)
from weighbeam.mechanisms.novelty.ui.proofs import audit, calibrate, plot, verify
from weighbeam.mechanisms.novelty.ui.reports import balances, history, receipt
from weighbeam.mechanisms.novelty.ui.transfer import export, import_texts


class NoveltyGroup(HelpGroup):
    """Texts in, payments, proofs, and the whole corpus in and out."""

    panels: ClassVar = {
        "Submit": ("submit", "contribute", "check"),
        "Pay": ("balances", "history", "release", "reject", "withdraw"),
        "Prove": ("receipt", "verify", "audit"),
        "Corpus": ("import", "export", "plot", "calibrate"),
    }


novelty_app = make_app("Pay for new text, without a chain.", cls=NoveltyGroup)


Limit = Annotated[
    Decimal | None,
    typer.Option(parser=parse_tokens, metavar="TOKENS", help="Refuse what would pay more in a day (UTC)."),
]
EachLimit = Annotated[
    Decimal | None,
    typer.Option(parser=parse_tokens, metavar="TOKENS", help="Refuse what would pay one contributor more in a day."),
]


@novelty_app.command()
def submit(
    contributor: Annotated[str, typer.Option(help="The contributor, by your own name for them.")],
    text: Text = None,
    file: TextFile = None,
    key: Annotated[str | None, typer.Option(help="Idempotency key: the same one is never paid twice.")] = None,
    per_day: Limit = None,
    per_contributor: EachLimit = None,
    store: StoreOption = None,
    config: ConfigOption = None,
    params: ParamsFile = None,
    settings: SetOption = None,
    embedder: EmbedderName = None,
    as_json: AsJson = False,
) -> None:
    """Submit a text and be paid for its novelty.

    The less it resembles everything before it, the more is paid. --json prints the receipt.
    """
    from weighbeam.mechanisms.novelty.desk.opening import open_novelty
    from weighbeam.mechanisms.novelty.desk.submission import check_contributor
    from weighbeam.mechanisms.novelty.ui.receipts import show_receipt

    said, chosen = load_input(text, file), choose(store, config)
    name, rules = check_contributor(contributor), chosen.params(params, settings)
    limits = chosen.limits(per_day, per_contributor, rules)
    desk = open_novelty(chosen.place, chosen.key(), rules, limits, chosen.senses(embedder), chosen.scan())
    started = time.time()
    found = desk.submit(name, said, key)
    if as_json:
        print_json(found)
    else:
        show_receipt(found, rules)
        if found["at"] < started:
            typer.echo(f"duplicate: nothing more is paid for contribution {found['id']}")


@novelty_app.command()
def contribute(
    to: Annotated[str, typer.Option(metavar="URL", help="The desk: a validator's address, or a weighbeam serve.")],
    node: Annotated[str, typer.Option(metavar="ADDRESS", help="The hotkey of the node.")],
    text: Text = None,
    file: TextFile = None,
    key: Annotated[str | None, typer.Option(help="Idempotency key: the same one is never paid twice.")] = None,
    config: ConfigOption = None,
    as_json: AsJson = False,
) -> None:
    """Submit a text to another node over HTTP.

    The wallet of your settings signs it, and the receipt is verified.
    """
    from weighbeam.app.identity import open_hotkey
    from weighbeam.cli.common.options import open_settings
    from weighbeam.mechanisms.novelty.explain import format_tokens
    from weighbeam.mechanisms.novelty.params import NoveltyParams
    from weighbeam.mechanisms.novelty.service.client import send_contribution

    said = load_input(text, file)
    found = send_contribution(to, node, open_hotkey(open_settings(config)), said, key)
    if as_json:
        print_json(found)
    else:
        tokens = format_tokens(found["units"], NoveltyParams())
        typer.echo(f"contribution {found['id']}: {found['status']}, {tokens} tokens ({found['units']} units)")


@novelty_app.command()
def check(
    text: Text = None,
    file: TextFile = None,
    contributor: Annotated[str | None, typer.Option(help="The contributor; else somebody new.")] = None,
    store: StoreOption = None,
    config: ConfigOption = None,
    params: ParamsFile = None,
    settings: SetOption = None,
    embedder: EmbedderName = None,
    as_json: AsJson = False,
) -> None:
    """Show what a text would be paid now.

    Nothing is written.
    """
    from weighbeam.mechanisms.novelty.desk.opening import open_to_check
    from weighbeam.mechanisms.novelty.ui.receipts import show_checked

    said, chosen = load_input(text, file), choose(store, config)
    rules = chosen.params(params, settings)
    found = open_to_check(chosen.place, rules, chosen.senses(embedder), chosen.scan()).check(said, contributor)
    if as_json:
        print_json(found.as_json())
    else:
        show_checked(found, rules)


@novelty_app.command()
def release(id: Number, store: StoreOption = None, config: ConfigOption = None, as_json: AsJson = False) -> None:
    """Pay what was held for a contribution."""
    _settle(id, store, config, as_json, paid=True)


@novelty_app.command()
def reject(id: Number, store: StoreOption = None, config: ConfigOption = None, as_json: AsJson = False) -> None:
    """Return what was held to the treasury."""
    _settle(id, store, config, as_json, paid=False)


@novelty_app.command()
def withdraw(id: Number, store: StoreOption = None, config: ConfigOption = None, as_json: AsJson = False) -> None:
    """Delete the text of a contribution.

    Its hash and vectors stay, so that it cannot be paid again.
    """
    from weighbeam.mechanisms.novelty.desk.opening import open_to_decide
    from weighbeam.mechanisms.novelty.desk.settlement import withdraw as withdraw_text

    chosen = choose(store, config)
    withdraw_text(open_to_decide(chosen.place, chosen.key()), id)
    if as_json:
        print_json({"id": id, "withdrawn": True})
    else:
        typer.echo(f"the text of contribution {id} is deleted; what was paid stays paid")


def _settle(id: int, store: StoreOption, config: ConfigOption, as_json: bool, paid: bool) -> None:
    from weighbeam.mechanisms.novelty.desk.opening import open_to_decide
    from weighbeam.mechanisms.novelty.desk.settlement import settle_held
    from weighbeam.mechanisms.novelty.explain import format_tokens

    chosen = choose(store, config)
    desk = open_to_decide(chosen.place, chosen.key())
    found = settle_held(desk, id, "released" if paid else "rejected", time.time())
    if as_json:
        print_json(found)
    else:
        tokens = format_tokens(found["units"], chosen.params(None, None))
        typer.echo(f"contribution {id} is {found['status']}: {tokens} tokens")


novelty_app.command()(balances)
novelty_app.command()(history)
novelty_app.command()(receipt)
novelty_app.command()(verify)
novelty_app.command("import")(import_texts)
novelty_app.command()(export)
novelty_app.command()(audit)
novelty_app.command()(plot)
novelty_app.command()(calibrate)
