"""The novelty desk: takes in contributions, pays for them from a ledger, and signs receipts; needs no chain."""
