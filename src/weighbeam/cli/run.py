"""`weighbeam validator` and `weighbeam miner`: run one for real."""

from weighbeam.cli.settings import ConfigOption, open_settings


def validator(config: ConfigOption = None) -> None:
    """Run a validator until it is stopped: rounds, weigh-ins, clean-ups, /health. One per hotkey."""
    from weighbeam.operate.logs import start_logging
    from weighbeam.operate.run import run_validator

    loaded = open_settings(config)
    start_logging(loaded.settings.log)
    run_validator(loaded)


def miner(config: ConfigOption = None) -> None:
    """Serve answers to validators until it is stopped, and announce where on the chain."""
    from weighbeam.operate.logs import start_logging
    from weighbeam.operate.miner import run_miner

    loaded = open_settings(config)
    start_logging(loaded.settings.log)
    run_miner(loaded)
