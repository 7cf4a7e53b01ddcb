"""`weighbeam validator`, `weighbeam observer` and `weighbeam miner`: run one for real."""

from weighbeam.cli.settings import ConfigOption, LogJson, LogLevel, open_settings, start_logs


def validator(config: ConfigOption = None, log_json: LogJson = False, log_level: LogLevel = None) -> None:
    """Run a validator until it is stopped: rounds, weigh-ins, clean-ups, /health. One per hotkey."""
    from weighbeam.operate.run import run_validator

    loaded = open_settings(config)
    start_logs(loaded, log_json, log_level)
    run_validator(loaded)


def observer(config: ConfigOption = None, log_json: LogJson = False, log_level: LogLevel = None) -> None:
    """Ask miners and observe for a validator, which scores and weighs; any number may run beside it."""
    from weighbeam.operate.observer import run_observer

    loaded = open_settings(config)
    start_logs(loaded, log_json, log_level)
    run_observer(loaded)


def miner(config: ConfigOption = None, log_json: LogJson = False, log_level: LogLevel = None) -> None:
    """Serve answers to validators until it is stopped, and announce where on the chain."""
    from weighbeam.operate.miner import run_miner

    loaded = open_settings(config)
    start_logs(loaded, log_json, log_level)
    run_miner(loaded)
