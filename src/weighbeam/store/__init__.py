"""The store of journal, standings and ledger: SQLite by default, PostgreSQL by URL."""
