"""Measure the labelled rounds: in how many pairs of an honest answer and an attack the honest one earns more.

`python -m mechanisms.inference.attack_rounds` from `tests/` prints the table. A copied answer shares its pay with its
copies, so the pairs of an answer that was copied are counted apart.
"""

import json
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weighbeam.mechanism.params import make_params
from weighbeam.mechanisms.inference.mechanism import Inference
from weighbeam.senses.local import LocalSenses

FOLDER = Path(__file__).with_name("rounds")
INFERENCE = Inference()


@dataclass
class Tally:
    """Pairs won and lost, against honest answers of their own and against copied ones."""

    own: list[bool] = field(default_factory=list)
    copied: list[bool] = field(default_factory=list)


@dataclass
class Judged:
    """One round: who is what, who earned what, which answers are one."""

    number: int
    kinds: dict[str, str]
    emissions: dict[str, float]
    groups: list[list[str]]
    flagged: set[str]
    removed: dict[str, str]

    def list_kind(self, kind: str) -> list[str]:
        return [hotkey for hotkey, own in self.kinds.items() if own == kind]

    def list_honest(self) -> list[str]:
        return self.list_kind("honest") + self.list_kind("honest_outlier")

    def is_copied(self, hotkey: str) -> bool:
        return any(hotkey in group for group in self.groups)


def judge_rounds(senses: LocalSenses) -> list[Judged]:
    return [judge_round(int(path.stem[-2:]), json.loads(path.read_text("utf-8")), senses) for path in list_rounds()]


def judge_without(kind: str, number: int, senses: LocalSenses) -> Judged:
    """The same round as if those answers had not been given."""
    given = json.loads((FOLDER / f"round-{number:02d}.json").read_text("utf-8"))
    kept = [row for row in given["answers"] if row["kind"] != kind]
    return judge_round(number, {**given, "answers": kept}, senses)


def list_rounds() -> list[Path]:
    return sorted(FOLDER.glob("round-*.json"))


def judge_round(number: int, given: dict[str, Any], senses: LocalSenses) -> Judged:
    params = make_params(INFERENCE)
    rows = [{name: value for name, value in row.items() if name != "kind"} for row in given["answers"]]
    asked = INFERENCE.parse_question({"prompt": given["prompt"], "prose": given["prose"], "answers": rows})
    observation = INFERENCE.observe(params, asked, senses)
    report = INFERENCE.report(params, observation, INFERENCE.score(params, observation))
    kinds = {row["hotkey"]: row["kind"] for row in given["answers"]}
    return Judged(number, kinds, report["emissions"], report["groups"], set(report["flagged"]), report["removed"])


def tally_pairs(rounds: list[Judged]) -> dict[str, Tally]:
    tallies: dict[str, Tally] = defaultdict(Tally)
    for judged in rounds:
        honest = judged.list_honest()
        for attacker, kind in judged.kinds.items():
            if kind.startswith("honest"):
                continue
            for hotkey in honest:
                won = judged.emissions[hotkey] > judged.emissions[attacker]
                tally = tallies[kind]
                (tally.copied if judged.is_copied(hotkey) else tally.own).append(won)
    return dict(tallies)


def show(name: str, rounds: list[Judged]) -> None:
    print(f"{name}: {len(rounds)} rounds")
    for kind, tally in sorted(tally_pairs(rounds).items()):
        print(f"  {kind:16} {_share(tally.own)}   copied ones {_share(tally.copied)}")


def _share(won: list[bool]) -> str:
    return f"{sum(won):3d} of {len(won):3d} = {sum(won) / len(won):6.1%}" if won else "–"


if __name__ == "__main__":
    judged = judge_rounds(LocalSenses())
    show("development (even)", [one for one in judged if one.number % 2 == 0])
    show("untouched (odd)", [one for one in judged if one.number % 2])
