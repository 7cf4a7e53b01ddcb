"""The section `[novelty]` of the settings. It is imported whenever settings are read: it must load no mechanism."""

from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from weighbeam.app.settings.sections import SignedApiSection, about

Tokens = Annotated[Decimal, Field(ge=0, le=10**12, decimal_places=12)]
"""As written: 0.1 is a tenth, no float near it."""


class NoveltySection(SignedApiSection):
    """Access and budgets of the novelty API; the rules of pay are in `mechanisms.novelty.params`."""

    nonces: Annotated[Path, about("file of the nonces seen in signed calls")] = Path("novelty-nonces.sqlite")
    day_limit: Annotated[Tokens | None, about("tokens that may leave the treasury in a day (UTC)")] = None
    contributor_day_limit: Annotated[Tokens | None, about("tokens for one contributor in a day (UTC)")] = None
    scan: Annotated[
        Literal["auto", "flat", "int8-bound", "pgvector"],
        about("how the corpus is searched; all are exact, pgvector needs a store on PostgreSQL"),
    ] = "auto"
