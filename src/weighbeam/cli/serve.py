"""`weighbeam serve`: the novelty API, with no chain."""

from weighbeam.cli.settings import ConfigOption, open_settings


def serve(config: ConfigOption = None) -> None:
    """Serve the novelty API until it is stopped: submit, check, balances, receipts. Needs no chain."""
    from weighbeam.operate.logs import start_logging
    from weighbeam.operate.serve import run_service

    loaded = open_settings(config)
    start_logging(loaded.settings.log)
    run_service(loaded)
