"""The engine: plays rounds, keeps the journal, sets weights and answers requests, for any mechanism."""
