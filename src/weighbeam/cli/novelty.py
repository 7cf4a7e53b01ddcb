"""`weighbeam novelty`: pay for what has not been said before, with no chain at all."""

import time
from decimal import Decimal
from typing import Annotated

import typer

from weighbeam.cli.novelty_bulk import export, import_texts
from weighbeam.cli.novelty_options import (
    AsJson,
    ConfigOption,
    EmbedderName,
    Number,
    ParamsFile,
    Settings,
    StoreOption,
    Text,
    TextFile,
    choose,
    read_input,
    read_tokens,
)
from weighbeam.cli.novelty_proofs import audit, plot, verify
from weighbeam.cli.novelty_read import balances, history, receipt
from weighbeam.cli.shell import make_app, print_json

novelty_app = make_app("Pay for what has not been said before: submit, check, balances.")

Limit = Annotated[
    Decimal | None,
    typer.Option(parser=read_tokens, metavar="TOKENS", help="Refuse what would pay more in a day (UTC)."),
]
EachLimit = Annotated[
    Decimal | None,
    typer.Option(parser=read_tokens, metavar="TOKENS", help="Refuse what would pay one contributor more in a day."),
]


@novelty_app.command()
def submit(
    contributor: Annotated[str, typer.Option(help="Who contributes it, by your own name for them.")],
    text: Text = None,
    file: TextFile = None,
    key: Annotated[str | None, typer.Option(help="Idempotency key: the same one is never paid twice.")] = None,
    per_day: Limit = None,
    per_contributor: EachLimit = None,
    store: StoreOption = None,
    config: ConfigOption = None,
    params: ParamsFile = None,
    settings: Settings = None,
    embedder: EmbedderName = None,
    as_json: AsJson = False,
) -> None:
    """Contribute a text and be paid for how unlike everything before it is; --json prints the receipt."""
    from weighbeam.cli.show_novelty import show_receipt
    from weighbeam.novelty.records import check_contributor
    from weighbeam.operate.novelty import open_novelty

    said, chosen = read_input(text, file), choose(store, config)
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
            typer.echo(f"it was there before: nothing more is paid for contribution {found['id']}")


@novelty_app.command()
def contribute(
    to: Annotated[str, typer.Option(metavar="URL", help="The desk: a validator's address, or a weighbeam serve.")],
    node: Annotated[str, typer.Option(metavar="ADDRESS", help="The hotkey of whoever runs it.")],
    text: Text = None,
    file: TextFile = None,
    key: Annotated[str | None, typer.Option(help="Idempotency key: the same one is never paid twice.")] = None,
    config: ConfigOption = None,
    as_json: AsJson = False,
) -> None:
    """Contribute to somebody else's desk over HTTP, signed by the wallet of your settings; the receipt is checked."""
    from weighbeam.cli.settings import open_settings
    from weighbeam.novelty.hand_in import hand_in
    from weighbeam.operate.identity import open_hotkey

    said = read_input(text, file)
    found = hand_in(to, node, open_hotkey(open_settings(config)), said, key)
    if as_json:
        print_json(found)
    else:
        typer.echo(f"contribution {found['id']}: {found['status']}, {found['units']} units")


@novelty_app.command()
def check(
    text: Text = None,
    file: TextFile = None,
    store: StoreOption = None,
    config: ConfigOption = None,
    params: ParamsFile = None,
    settings: Settings = None,
    embedder: EmbedderName = None,
    as_json: AsJson = False,
) -> None:
    """What a text would be paid now; nothing is written."""
    from weighbeam.cli.show_novelty import show_checked
    from weighbeam.operate.novelty import open_to_check

    said, chosen = read_input(text, file), choose(store, config)
    rules = chosen.params(params, settings)
    found = open_to_check(chosen.place, rules, chosen.senses(embedder), chosen.scan()).check(said)
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
    """Give what was held for a contribution back to the treasury."""
    _settle(id, store, config, as_json, paid=False)


@novelty_app.command()
def withdraw(id: Number, store: StoreOption = None, config: ConfigOption = None, as_json: AsJson = False) -> None:
    """Delete a contribution's text; its hash and vectors stay, so that it cannot be paid again."""
    from weighbeam.novelty.operate import withdraw as withdraw_text
    from weighbeam.operate.novelty import open_to_decide

    chosen = choose(store, config)
    withdraw_text(open_to_decide(chosen.place, chosen.key()), id)
    if as_json:
        print_json({"id": id, "withdrawn": True})
    else:
        typer.echo(f"the text of contribution {id} is deleted; what was paid stays paid")


def _settle(id: int, store: StoreOption, config: ConfigOption, as_json: bool, paid: bool) -> None:
    from weighbeam.mechanisms.novelty.explain import write_tokens
    from weighbeam.novelty.operate import settle_held
    from weighbeam.operate.novelty import open_to_decide

    chosen = choose(store, config)
    desk = open_to_decide(chosen.place, chosen.key())
    found = settle_held(desk, id, "released" if paid else "rejected", time.time())
    if as_json:
        print_json(found)
    else:
        tokens = write_tokens(found["units"], chosen.params(None, None))
        typer.echo(f"contribution {id} is {found['status']}: {tokens} tokens ({found['units']} units)")


novelty_app.command()(balances)
novelty_app.command()(history)
novelty_app.command()(receipt)
novelty_app.command()(verify)
novelty_app.command("import")(import_texts)
novelty_app.command()(export)
novelty_app.command()(audit)
novelty_app.command()(plot)
