"""Commands that read a journal: reports, weights, alerts, replay and backtest."""
