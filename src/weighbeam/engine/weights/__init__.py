"""Weigh-ins: read the chain, decide, and submit through the ledger until confirmed."""
