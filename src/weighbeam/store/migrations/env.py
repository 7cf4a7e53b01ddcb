"""Alembic's way in: the engine hands its connection over."""

from alembic import context

# Migrations are written by hand, so no metadata is given to compare a store with.
context.configure(connection=context.config.attributes["connection"])
with context.begin_transaction():
    context.run_migrations()
