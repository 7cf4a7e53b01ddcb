"""The table of submissions: every intent to set weights, and how far it got."""

from collections.abc import Mapping

from weighbeam.engine.views.weights import STATES, list_weights
from weighbeam.service.tables.boards import find_run
from weighbeam.service.tables.model import Column, FoundRows, Table, TableSource, find_span


def select_submissions(source: TableSource, filters: Mapping[str, str], limit: int) -> FoundRows:
    find_run(source, filters["mechanism"])
    since, until = find_span(filters, source.now)
    rows = list_weights(source.store, filters["mechanism"], limit + 1, None, since, until)
    return FoundRows(rows[:limit], len(rows) > limit)


SUBMISSIONS = Table(
    name="submissions",
    about="Every intent to set weights of a mechanism, newest first.",
    columns=(
        Column("id", "integer", lambda line: line.id, "its number"),
        Column("at", "time", lambda line: line.at, "when it was planned"),
        Column("state", "text", lambda line: line.state, "how far it got", rises=True),
        Column("reason", "text", lambda line: line.reason, "why it failed", rises=True),
        Column("mode", "text", lambda line: line.mode, "NORMAL, DEGRADED, EMERGENCY …", rises=True),
        Column("sent_block", "integer", lambda line: line.sent_block, "the block it was sent at"),
        Column("included_block", "integer", lambda line: line.included_block, "the block that has it"),
        Column("miners", "integer", lambda line: len(line.shares), "with a weight in it"),
        Column("first", "real", lambda line: line.top1, "the largest share"),
        Column("gini", "real", lambda line: line.gini, "how concentrated it is"),
        Column("effective", "real", lambda line: line.effective, "so many equals would be as concentrated"),
    ),
    select=select_submissions,
    order="-id",
    needs=("mechanism",),
    filters=("status", "reason", "range", "since", "until"),
    matches={"status": lambda line: (line.state,), "reason": lambda line: (line.reason or "",)},
    options={"status": STATES},
)
