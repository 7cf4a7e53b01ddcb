"""`weighbeam serve`: the novelty API, with no chain."""

from weighbeam.cli.settings import ConfigOption, LogJson, LogLevel, open_settings, start_logs


def serve(config: ConfigOption = None, log_json: LogJson = False, log_level: LogLevel = None) -> None:
    """Serve the novelty API until it is stopped: submit, check, balances, receipts. Needs no chain."""
    from weighbeam.operate.serve import run_service

    loaded = open_settings(config)
    start_logs(loaded, log_json, log_level)
    run_service(loaded)
