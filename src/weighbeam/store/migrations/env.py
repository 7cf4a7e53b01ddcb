"""Alembic's way in: the engine hands its connection over."""

from alembic import context

from weighbeam.store import novelty_tables

context.configure(connection=context.config.attributes["connection"], target_metadata=novelty_tables.metadata)
with context.begin_transaction():
    context.run_migrations()
