"""What the shell offers while a command is typed: names of mechanisms and of their parameters, loading neither."""

from importlib.metadata import entry_points

import typer


def complete_mechanism(incomplete: str) -> list[str]:
    """Installed mechanisms."""
    names = {entry.name for entry in entry_points(group="weighbeam.mechanisms")}
    return sorted(name for name in names if name.startswith(incomplete))


def complete_setting(ctx: typer.Context, incomplete: str) -> list[str]:
    """`NAME=` for every parameter of the mechanism that the command is about; `MECHANISM.NAME=` if it names none."""
    from weighbeam.mechanisms.released import read_released

    *_, newest = read_released().values()
    meant = [word for word in ctx.command_path.split() if word in newest]
    if meant:
        names = [f"{param}=" for param in newest[meant[0]]]
    else:
        names = [f"{mechanism}.{param}=" for mechanism, params in newest.items() for param in params]
    return sorted(name for name in names if name.startswith(incomplete))
