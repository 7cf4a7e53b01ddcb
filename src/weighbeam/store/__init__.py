"""Where the journal, the standings and the ledger live: SQLite by default, any SQLAlchemy URL by choice."""
