"""The list of rounds."""

from urllib.parse import quote, urlencode

from weighbeam.engine.reading.rounds import list_rounds
from weighbeam.service.pages.render import render
from weighbeam.service.pages.shelf import Shelf

MOST = 50
ALL = "all"


def show_rounds(shelf: Shelf, mechanism: str | None, cursor: str | None) -> str:
    if mechanism is not None:
        shelf.find(mechanism)
    page = list_rounds(shelf.store, mechanism=mechanism, cursor=cursor, most=MOST)
    kept = {"mechanism": mechanism} if mechanism else {}
    first = f"/rounds?{urlencode(kept)}" if kept else "/rounds"
    return render(
        "rounds.html",
        shelf.frame(),
        "/rounds",
        shelf.now(),
        title="Rounds",
        rounds=page.items,
        chosen=mechanism or ALL,
        tabs=[(ALL, "/rounds"), *((name, f"/rounds?mechanism={quote(name)}") for name in shelf.names)],
        page={
            "cursor": cursor,
            "first": first,
            "next": f"/rounds?{urlencode({**kept, 'cursor': page.next})}" if page.next else None,
        },
    )
