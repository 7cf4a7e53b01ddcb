"""`weighbeam novelty balances`, `history` and `receipt`: read a desk's store; no model is loaded."""

import time
from typing import Annotated, Literal

import typer

from weighbeam.cli.common.options import AsJson, ParamsFile, SetOption
from weighbeam.cli.common.shell import make_printable, print_json
from weighbeam.mechanisms.novelty.ui.options import ConfigOption, Number, StoreOption, choose

Outcome = Literal["paid", "held", "duplicate", "imported", "released", "rejected"]
MAX_SHOWN = 40


def balances(
    contributor: Annotated[str | None, typer.Argument(help="Only this one.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="At most this many.")] = 1000,
    after: Annotated[str, typer.Option(help="Only names after this one.")] = "",
    store: StoreOption = None,
    config: ConfigOption = None,
    params: ParamsFile = None,
    settings: SetOption = None,
    as_json: AsJson = False,
) -> None:
    """List what contributors own, by name.

    And what is held for them.
    """
    from weighbeam.cli.journal.reports import print_table
    from weighbeam.mechanisms.novelty.desk.accounts import count_all, select_balances, select_contributor_balance
    from weighbeam.mechanisms.novelty.desk.opening import view_kept
    from weighbeam.mechanisms.novelty.explain import format_tokens

    chosen = choose(store, config)
    rules, kept = chosen.params(params, settings), view_kept(chosen.place)
    rows = (
        [select_contributor_balance(kept, contributor)]
        if contributor is not None
        else select_balances(kept, limit, after)
    )
    totals = count_all(kept)
    if as_json:
        print_json(rows[0] if contributor is not None else {"balances": rows, "totals": totals})
        return
    cells = [
        [make_printable(row["contributor"], 60), format_tokens(row["units"], rules), format_tokens(row["held"], rules)]
        for row in rows
    ]
    print_table(("contributor", "tokens", "held"), cells)
    if contributor is None:
        told = f"{totals['contributions']} contributions, {totals['pieces']} pieces in the corpus"
        typer.echo(f"treasury: {format_tokens(totals['treasury'], rules)} tokens; {told}")


def history(
    contributor: Annotated[str | None, typer.Option(help="Only of this contributor.")] = None,
    status: Annotated[Outcome | None, typer.Option(help="Only those that ended so.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most this many.")] = 20,
    before: Annotated[int | None, typer.Option(min=1, help="Only numbers before this one.")] = None,
    store: StoreOption = None,
    config: ConfigOption = None,
    params: ParamsFile = None,
    settings: SetOption = None,
    as_json: AsJson = False,
) -> None:
    """List contributions and their outcomes.

    Newest first.
    """
    from weighbeam.cli.journal.reports import print_table
    from weighbeam.mechanisms.novelty.desk.accounts import select_contributor_balance, select_history
    from weighbeam.mechanisms.novelty.desk.opening import view_kept
    from weighbeam.mechanisms.novelty.explain import format_tokens

    chosen = choose(store, config)
    rules, kept = chosen.params(params, settings), view_kept(chosen.place)
    if contributor is not None:
        select_contributor_balance(kept, contributor)
    rows = select_history(kept, contributor, status, before, limit)
    if as_json:
        print_json({"history": rows})
        return
    cells = [
        [
            row["id"],
            time.strftime("%m-%d %H:%M:%SZ", time.gmtime(row["at"])),
            make_printable(row["contributor"], 20),
            "not new" if row["status"] == "paid" and not row["units"] else row["status"],
            format_tokens(row["units"], rules),
            "–" if row["nearest"] is None else f"{row['similarity'] / 1_000_000:.4f} to {row['nearest']}",
            "(withdrawn)" if row["withdrawn"] else make_printable(row["text"] or "", MAX_SHOWN),
        ]
        for row in rows
    ]
    print_table(("id", "at", "contributor", "status", "tokens", "similarity", "text"), cells)


def receipt(
    id: Number,
    store: StoreOption = None,
    config: ConfigOption = None,
    params: ParamsFile = None,
    settings: SetOption = None,
    as_json: AsJson = False,
) -> None:
    """Show the receipt of a contribution.

    And of its settlement if it was held. --json prints what `weighbeam novelty verify` reads.
    """
    from weighbeam.mechanisms.novelty.desk.accounts import select_receipts
    from weighbeam.mechanisms.novelty.desk.opening import view_kept
    from weighbeam.mechanisms.novelty.explain import format_tokens
    from weighbeam.mechanisms.novelty.ui.receipts import show_receipt

    chosen = choose(store, config)
    found = select_receipts(view_kept(chosen.place), id)
    if as_json:
        print_json(found)
        return
    settled = found["settlement"]
    rules = chosen.params(params, settings)
    show_receipt(found["receipt"], rules, settled is not None)
    if settled is not None:
        typer.echo(f"{settled['status']}: {format_tokens(settled['units'], rules)} tokens")
