"""Alembic's way in: the engine hands its connection over."""

from alembic import context

from weighbeam.store.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
