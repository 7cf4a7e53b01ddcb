"""`weighbeam validator` and `weighbeam miner`: run one for real."""

from weighbeam.cli.settings import ConfigOption, LogJson, LogLevel, open_settings, start_logs


def validator(config: ConfigOption = None, log_json: LogJson = False, log_level: LogLevel = None) -> None:
    """Run a validator until it is stopped: rounds, weigh-ins, clean-ups, /health. One per hotkey."""
    from weighbeam.operate.run import run_validator

    loaded = open_settings(config)
    start_logs(loaded, log_json, log_level)
    run_validator(loaded)


def miner(config: ConfigOption = None, log_json: LogJson = False, log_level: LogLevel = None) -> None:
    """Serve answers to validators until it is stopped, and announce where on the chain."""
    from weighbeam.operate.miner import run_miner

    loaded = open_settings(config)
    start_logs(loaded, log_json, log_level)
    run_miner(loaded)
