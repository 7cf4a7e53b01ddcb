"""What an answer earns once somebody who knows the rules has spoilt it, beside what it earned as it was.

`python -m benchmarks.in_place` replaces one honest answer in a round of ten by a text made from it; the nine others,
their seconds and the prompt stay. A lab season says what an attacker earns over time; this says what the trick adds.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import weighbeam
from weighbeam.mechanisms.inference.lab.knowing import (
    AROUND,
    HEDGES,
    find_content,
    glue_words,
    swap_words,
)
from weighbeam.mechanisms.inference.lab.rewording import reword
from weighbeam.mechanisms.inference.lab.world import load_ladders
from weighbeam.mechanisms.inference.miners.contradict import contradict
from weighbeam.mechanisms.inference.task import load_bank

OTHERS, BASES = 9, 4
SECONDS, MOMENT = 2.0, 0.1
Trick = Callable[[str, list[str]], str]
TRICKS: dict[str, Trick] = {
    "glue": lambda base, _: glue_words(find_content(base)),
    "swap": lambda base, _: swap_words(base),
    "hedge": lambda base, _: f"{HEDGES[0][0]} {base} {HEDGES[0][1]}",
    "length-padding": lambda base, _: " ".join((*AROUND[:8], base, *AROUND[8:])),
    "reworded": lambda base, _: reword(base),
    "meaning-flip": lambda base, _: contradict(base),
    "list-some": lambda _, others: "\n\n".join(others[:4]),
    "list-all": lambda _, others: "\n".join(others),
}


@dataclass
class Tally:
    paid: float = 0.0
    plain: float = 0.0
    better: int = 0
    points: list[float] = field(default_factory=list)


def measure_tricks() -> dict[str, Tally]:
    senses = weighbeam.LocalSenses()
    prompts = {row["id"]: row["prompt"] for row in load_bank()}
    tallies = {name: Tally() for name in TRICKS}
    for number, (name, answers) in enumerate(sorted(load_ladders().items())):
        base = answers[1 + number % BASES]
        others = [text for text in answers if text != base][:OTHERS]
        score, plain = play(prompts[name], others, base, SECONDS, senses)
        for trick, tally in tallies.items():
            late = trick.startswith("list")
            text = TRICKS[trick](base, others)
            points, paid = play(prompts[name], others, text, SECONDS + MOMENT * late, senses)
            tally.paid, tally.plain = tally.paid + paid, tally.plain + plain
            tally.better += paid > plain
            tally.points.append(points - score)
    return tallies


def play(prompt: str, others: list[str], text: str, seconds: float, senses: object) -> tuple[float, float]:
    """Score and emission of a text among others."""
    rows = [{"hotkey": f"miner-{place}", "text": other, "seconds": SECONDS} for place, other in enumerate(others)]
    rows.append({"hotkey": "one", "text": text, "seconds": seconds})
    report = weighbeam.score("inference", {"prompt": prompt, "answers": rows}, senses=senses).report()
    return report["scores"]["one"], report["emissions"]["one"]


def show() -> None:
    print("| trick | pay beside the plain answer | better in | points |\n| --- | --- | --- | --- |")
    for name, tally in measure_tricks().items():
        gain = sum(tally.points) / len(tally.points)
        print(f"| `{name}` | {tally.paid / tally.plain:.2f} | {tally.better} of {len(tally.points)} | {gain:+.1f} |")


if __name__ == "__main__":
    show()
