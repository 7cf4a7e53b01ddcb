"""The functions of the door: what `import weighbeam` lets a program do.

Heavy imports are inside the functions, so that `weighbeam.score` loads no database and `weighbeam.replay` no model.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.extras import explain_extras
from weighbeam.engine.scoring import ScoreResult, score_question
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.checks import ContractFinding
from weighbeam.mechanism.checks import check_mechanism as check_contract
from weighbeam.mechanism.params import Params
from weighbeam.mechanism.records import Node
from weighbeam.mechanism.registry import SCORING, accept_mechanism, load_mechanism
from weighbeam.mechanism.untrusted import describe_exception, format_html_table
from weighbeam.senses.local import LocalSenses
from weighbeam.senses.ports.protocols import Senses

if TYPE_CHECKING:
    from weighbeam.engine.journal.replay import ReplayedEntry
    from weighbeam.lab.backtest.run import Backtest

MILLION = 1_000_000
MAX_ROWS = 20


@explain_extras()
def score(
    mechanism: str | Mechanism | type[Mechanism],
    question: Mapping[str, Any] | str | Path,
    *,
    senses: Senses | None = None,
    params: Mapping[str, Any] | Params | None = None,
) -> ScoreResult:
    """Score the answers of a question with exactly the code a validator runs. No database is loaded.

    `mechanism` is a name, or a class or an object of your own; `question` is the JSON of `weighbeam score`
    (docs/guides/score.md), or the path of a file with it. `params` overrides parameters by name. Without `senses`, the
    models of this machine are used, and pages are read from the archive that the question names, or else from the web.

    >>> import weighbeam
    >>> class Brief(weighbeam.Mechanism):
    ...     "Answer in few words."
    ...
    ...     name = "brief"
    ...
    ...     def measure(self, task, reply, senses):
    ...         return {"words": len(reply["text"].split())}
    ...
    ...     def grade(self, params, facts):
    ...         return {"brevity": 1 / (1 + facts["words"])}
    >>> answers = [{"hotkey": "ada", "text": "Rain."}, {"hotkey": "bob", "text": "Because of the rain."}]
    >>> result = weighbeam.score(Brief(), {"prompt": "Why is it wet?", "answers": answers})
    >>> result.value("ada"), result.value("bob"), result.best
    (0.5, 0.2, 'ada')
    >>> print(result.explain("ada"))
    ada: 0.5
    ├── brevity = 0.5 = 0.5
    ├── words: 1
    └── seconds: 0
    """
    judge = accept_mechanism(mechanism, SCORING)
    data, folder = _load_question(question)
    chosen = senses if senses is not None else _open_senses(judge, data, folder)
    return score_question(judge, data, chosen, params)


def explain(
    mechanism: str | Mechanism | type[Mechanism],
    question: Mapping[str, Any] | str | Path,
    hotkey: str | None = None,
    *,
    senses: Senses | None = None,
    params: Mapping[str, Any] | Params | None = None,
) -> Node:
    """How the score of an answer comes about, as a tree; without `hotkey`, one tree over all answers.

    `print` shows it as text. The other arguments are those of `score`, whose result can explain as well.
    """
    result = score(mechanism, question, senses=senses, params=params)
    if hotkey is not None:
        return result.explain(hotkey)
    trees = (result.explain(score.hotkey) for score in result.scored.scores)
    return Node(f"{result.mechanism.name}: {len(result.scored.scores)} answers", tuple(trees))


class EntailmentProbabilities(NamedTuple):
    """Whether a premise contradicts a hypothesis, leaves it open, or entails it. The three add up to 1."""

    contradiction: float
    neutral: float
    entailment: float


@explain_extras()
def entail(pairs: Sequence[tuple[str, str]], *, senses: Senses | None = None) -> list[EntailmentProbabilities]:
    """Judge pairs of (premise, hypothesis): the probabilities of contradiction, neutral and entailment for each.

    Each pair is judged by itself, so the result does not depend on the other pairs.
    """
    for number, pair in enumerate(_list_pairs(pairs)):
        if not (isinstance(pair, tuple | list) and len(pair) == 2 and all(isinstance(text, str) for text in pair)):
            message = f"pair {number} must be two strings"
            raise WeighbeamError("bad_pairs", message, "give a list of (premise, hypothesis)")
    judge = (senses if senses is not None else _open_own_senses()).entailment
    if not pairs:
        return []
    return [EntailmentProbabilities(*(int(part) / MILLION for part in row)) for row in judge.judge(pairs)]


@dataclass(frozen=True, slots=True, repr=False)
class JournalReplay:
    """A journal, computed again: how many entries and tables, and each that differs from what was recorded.

    `signer` is the hotkey that signed its head, None if nobody did; `head` is its last entry as `SEQUENCE:HASH`. A
    notebook shows it as a table of the first differences.
    """

    journal: str
    entries: int
    faults: "tuple[ReplayedEntry, ...]"
    signer: str | None = None
    head: str = ""

    @property
    def is_equal(self) -> bool:
        """Whether everything came out as recorded, to the bit."""
        return not self.faults

    @explain_extras()
    def round(self, round_id: str) -> ScoreResult:
        """A recorded round, scored again: with its scores, table and explanations."""
        from weighbeam.engine.journal.access import view_journal
        from weighbeam.engine.journal.recall import recall_round

        with closing(view_journal(self.journal)) as store:
            return recall_round(store, round_id)

    def __repr__(self) -> str:
        return f"<JournalReplay: {self._summary()}>"

    def _summary(self) -> str:
        return f"{self.entries} entries, {f'{len(self.faults)} differ' if self.faults else 'all equal'}"

    def _repr_html_(self) -> str:
        """A table for a notebook. Names come from the journal, so each cell is escaped."""
        rows = [(str(entry.sequence), entry.ref, entry.fault or "") for entry in self.faults[:MAX_ROWS]]
        return format_html_table(f"replay: {self._summary()}", ("entry", "of", "difference"), rows)


@explain_extras()
def replay(journal: str | Path, *, hotkey: str | None = None) -> JournalReplay:
    """Compute every score, standing and weight of a journal again, without models or network, and compare.

    `journal` is a file or a database URL. It is only read. Signatures and rows of evidence are checked too; with
    `hotkey`, the journal must be signed by it. A difference is a fault in the result, not an exception.
    """
    from weighbeam.engine.journal.access import view_journal
    from weighbeam.engine.journal.head import list_witnesses
    from weighbeam.engine.proof.prove import Pins, Proof

    with closing(view_journal(str(journal))) as store:
        proof = Proof(store, load_mechanism, Pins(hotkey, list_witnesses(str(journal))))
        entries = sum(1 for _ in proof.lines())
    found, (sequence, digest) = proof.summary, proof.summary.end
    if not sequence:
        raise WeighbeamError("empty_journal", "the journal holds no entry", "name the journal of a validator")
    return JournalReplay(str(journal), entries, tuple(found.faults), found.signer, f"{sequence}:{digest}")


@explain_extras("lab")
def backtest(
    journal: str | Path,
    overrides: Mapping[str, Any],
    *,
    mechanism: str | None = None,
    start: str | None = None,
    end: str | None = None,
    weigh_every: float | None = None,
    keep_groups: bool = False,
    force: bool = False,
) -> "Backtest":
    """Play the recorded rounds and weigh-ins of a journal under other parameters: who gains, who loses, and why.

    `overrides` maps `MECHANISM.NAME` or `weigh_in.NAME` to a value; with `mechanism`, only its rounds count and its
    parameters may be named alone. `start` and `end` are a round or a time (`2027-01-15T08:00Z`, or seconds);
    `weigh_every` seconds replaces the recorded weigh-ins. `keep_groups` allows parameters that change which miners are
    asked: the recorded groups are reused. `force` continues even if the journal fails verification. The journal is only
    read; what was never observed is refused. `as_json()` of the result is the JSON of `weighbeam lab backtest`.
    """
    from weighbeam.engine.journal.access import view_journal
    from weighbeam.lab.backtest.overrides import parse_overrides
    from weighbeam.lab.backtest.play import BacktestCourse
    from weighbeam.lab.backtest.run import run_backtest
    from weighbeam.lab.backtest.support import AllowedDifferences
    from weighbeam.lab.backtest.window import Window, parse_edge

    terms = parse_overrides(overrides, mechanism)
    window = Window(parse_edge(start), parse_edge(end))
    course = BacktestCourse(load_mechanism, window, mechanism, weigh_every)
    with closing(view_journal(str(journal))) as store:
        return run_backtest(store, terms, course, AllowedDifferences(keep_groups, force))


@explain_extras()
def check_mechanism(
    mechanism: str | Mechanism | type[Mechanism],
    *,
    senses: Senses | None = None,
    params: Mapping[str, Any] | None = None,
) -> tuple[ContractFinding, ...]:
    """Run every check of the contract on a mechanism's own examples; `contract_broken` names each broken promise.

    A mechanism that passes can be journaled, replayed, backtested and attacked like the built-in ones.
    """
    subject = accept_mechanism(mechanism)
    return check_contract(subject, senses if senses is not None else _open_lab_senses(subject), params)


def _list_pairs(given: object) -> Sequence[object]:
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        return given
    message = f"pairs must be a list, not {type(given).__name__}"
    raise WeighbeamError("bad_pairs", message, "give a list of (premise, hypothesis)")


def _load_question(given: Mapping[str, Any] | str | Path) -> tuple[Any, Path]:
    """The question, and the folder that its paths start at."""
    if not isinstance(given, str | Path):
        return given, Path()
    from weighbeam.engine.support.json_files import load_json

    return load_json(Path(given)), Path(given).parent


def _open_senses(mechanism: Mechanism, question: Any, folder: Path) -> Senses:
    wanted = mechanism.question_senses(question, folder) if isinstance(question, Mapping) else {}
    return LocalSenses(**wanted) if wanted else _open_own_senses()


def _open_lab_senses(mechanism: Mechanism) -> Senses:
    """The senses of a mechanism's lab, which see the pages that its examples are about."""
    try:
        return LocalSenses(**mechanism.lab_senses())
    except (Exception, SystemExit) as fault:
        message = f"lab_senses of {mechanism.name!r}: {describe_exception(fault)}"
        raise WeighbeamError("bad_mechanism", message, "return a mapping of options of LocalSenses") from fault


@cache
def _open_own_senses() -> LocalSenses:
    """One for all calls of a process: models are loaded once."""
    return LocalSenses()
