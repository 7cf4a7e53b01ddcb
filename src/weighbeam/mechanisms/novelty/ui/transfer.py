"""`weighbeam novelty import` and `export`: transfer a whole corpus."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from weighbeam.cli.common.options import AsJson, ParamsFile, SetOption
from weighbeam.cli.common.receipts import open_lines
from weighbeam.cli.common.shell import EXIT_CHECK_FAILED, make_printable, print_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.ui.options import ConfigOption, EmbedderName, StoreOption, choose


def import_texts(
    file: Annotated[Path, typer.Argument(help="One text per line: a JSON string, {text, contributor?}, or an export.")],
    contributor: Annotated[str, typer.Option(help="The contributor, where a line does not say.")] = "import",
    store: StoreOption = None,
    config: ConfigOption = None,
    params: ParamsFile = None,
    settings: SetOption = None,
    embedder: EmbedderName = None,
    as_json: AsJson = False,
) -> None:
    """Import texts to compare with, without paying.

    Exits with 1 if a line could not be imported.
    """
    from weighbeam.mechanisms.novelty.desk.bulk_import import import_lines
    from weighbeam.mechanisms.novelty.desk.opening import open_novelty
    from weighbeam.mechanisms.novelty.desk.submission import check_contributor

    chosen, name = choose(store, config), check_contributor(contributor)
    with open_lines(file) as lines:
        rules = chosen.params(params, settings)
        desk = open_novelty(chosen.place, chosen.key(), rules, senses=chosen.senses(embedder), scan=chosen.scan())
        with show_progress(file.stat().st_size) as on_progress:
            brought = import_lines(desk, lines, name, on_progress)
    if as_json:
        print_json(asdict(brought))
    else:
        for bad in brought.bad:
            typer.echo(f"line {bad.line}: {make_printable(bad.message, 200)} [{bad.error}]", err=True)
        counts = f"{brought.imported} imported, {brought.duplicates} known before, {len(brought.bad)} bad"
        typer.echo(counts + (f", {brought.skipped} without a text" if brought.skipped else ""))
    if brought.bad:
        raise typer.Exit(EXIT_CHECK_FAILED)


def export(
    file: Annotated[Path, typer.Argument(help="The file to write, one JSON object per line.")],
    vectors: Annotated[bool, typer.Option("--vectors", help="With the vectors of every piece.")] = False,
    store: StoreOption = None,
    config: ConfigOption = None,
    as_json: AsJson = False,
) -> None:
    """Export corpus, ledger and receipts to a file.

    As they are at one moment.
    """
    from weighbeam.mechanisms.novelty.desk.export import encode_export
    from weighbeam.mechanisms.novelty.desk.opening import view_kept
    from weighbeam.mechanisms.novelty.desk.record import select_record

    kept = view_kept(choose(store, config).place)
    with kept.read() as connection:
        count = save_lines(file, encode_export(select_record(connection), vectors))
    if as_json:
        print_json({"file": str(file), "lines": count})
    else:
        typer.echo(f"{count} lines in {file}")


def save_lines(file: Path, lines: Iterator[bytes]) -> int:
    """Write beside the file and put it in its place when it is whole."""
    draft = file.with_name(f".{file.name}.part")
    count = 0
    try:
        with draft.open("wb") as out:
            for line in lines:
                count += 1
                out.write(line)
        draft.replace(file)
    except OSError as fault:
        raise WeighbeamError("unwritable_file", f"{file}: {fault.strerror}", "name another place") from None
    finally:
        draft.unlink(missing_ok=True)
    return count


@contextmanager
def show_progress(total: int) -> Iterator[Callable[[int], None]]:
    """A bar of bytes read, on a terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task("importing", total=total)
        yield lambda done: bars.update(bar, completed=done)
