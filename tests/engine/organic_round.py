"""A round of a user's question, with a text that is nobody else's business and one that is an attack."""

from keyword_recall.mechanism import KeywordRecall

from engine.recall import PARAMS
from weighbeam.engine.journal.encoding import RoundFacts
from weighbeam.engine.journal.journal import Journal
from weighbeam.mechanism.params import hash_params
from weighbeam.mechanism.records import Answer, Asked, Group, Task
from weighbeam.store import tables

RECALL, START = KeywordRecall(), 1_800_000_000.0
SECRET = "what my doctor told me"
HOSTILE = "</script>\ud800\u202e\0'; DROP TABLE rounds; --"


def play_organic(journal: Journal, name: str, commit: bool = True) -> None:
    """A round of a user's question, asked by a token."""
    task = Task(name, {"keywords": [SECRET, "tide"]}, "organic")
    answers = (Answer("a", {"text": f"tide {SECRET}"}, 0.5, uid=3), Answer("b", {"text": HOSTILE}, 0.25))
    asked = Asked(task, Group(("a", "b")), answers, "seed")
    observation = RECALL.observe(PARAMS, asked, None)
    facts = RoundFacts(
        name, RECALL.name, PARAMS.model_dump(mode="json"), hash_params(RECALL, PARAMS, {}), "s", 7, START
    )
    journal.record(facts, asked, observation)
    if commit:
        journal.commit(name, RECALL)
    row = {"id": f"request-{name}", "mechanism": RECALL.name, "at": START, "state": "done", "body": {}, "round": name}
    extra = {"round": name, "kind": "narrative", "at": START, "value": f"They said {SECRET}.", "maker": "deterministic"}
    with journal.store.write() as connection:
        connection.execute(tables.requests.insert().values(**row, caller="token:app"))
        connection.execute(tables.extras.insert().values(**extra))
