"""The outcome of the demo: pay and reasons by mechanism, replay, failed claims, and the deliveries after the rounds."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean
from typing import Any

from weighbeam.chain.contract import Neuron
from weighbeam.charts.drawing import draw_in_process
from weighbeam.demo.subnet import DemoSubnet
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.journal.recall import select_round
from weighbeam.engine.journal.replay import ReplayedEntry
from weighbeam.engine.outbox.deliver import Delivery, deliver_due
from weighbeam.engine.outbox.enqueue import raise_alerts
from weighbeam.engine.proof.prove import Pins, Proof
from weighbeam.engine.requests.challenge_api import ChallengeApi
from weighbeam.engine.rounds.context import RoundContext
from weighbeam.engine.rounds.narrative import NarrativeJobs, select_extras
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.views.leaderboard import select_leaderboard
from weighbeam.engine.views.rounds import list_rounds
from weighbeam.mechanism.records import Score, Scored
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.senses.ports.protocols import Narrator
from weighbeam.store.artifacts import open_artifacts

SMALLEST = 1 / 65535
BURN_SLACK = 0.001
TOO_BUSY = "this machine is too busy or too slow: end other programs and run the demo again"


def find_failures(result: Mapping[str, Any]) -> list[str]:
    """Every claim that did not come true or could not be shown: weights confirmed, the honest paid best, the caught
    paid least, burnt as set, replay equal.

    >>> find_failures({"mechanisms": {}, "replay": {"equal": False, "faults": ["round-1: scores differ"]}})
    ['replay: round-1: scores differ']
    """
    found = [f"replay: {fault}" for fault in result["replay"]["faults"]]
    for name, part in result["mechanisms"].items():
        unproven = list(_check_time(part))
        claims = (*_check_weights(part), *_check_burn(part), *_check_pay(part))
        found += [f"{name}: {fault}" for fault in unproven or claims]
    return found


def _check_time(part: Mapping[str, Any]) -> Iterator[str]:
    """Rounds that this machine was too busy for prove nothing either way, so nothing is claimed."""
    for row in part["validators"]:
        if row["rounds"] and row["void"] == row["rounds"]:
            yield f"nothing is proven, because all {row['rounds']} rounds of {row['name']} are void; {TOO_BUSY}"
    late = [row["name"] for row in part["miners"] if row["role"] == "honest" and row["late"] and not row["valid"]]
    if late:
        yield f"nothing is proven, because {', '.join(late)} had no time to answer in any round; {TOO_BUSY}"


def _check_weights(part: Mapping[str, Any]) -> Iterator[str]:
    for row in part["validators"]:
        if row["weigh_in"] != "confirmed":
            yield f"the weights of {row['name']} are not confirmed: {row['weigh_in']}"


def _check_burn(part: Mapping[str, Any]) -> Iterator[str]:
    """Of the weights as they are on chain, so that one unit of rounding per miner may be missing."""
    burn = part["burn"]
    for row, burnt in zip(part["validators"], burn["shares"] if burn else (), strict=burn is not None):
        if abs(burnt - burn["wanted"]) > BURN_SLACK:
            yield f"{row['name']} burns {burnt:.1%} instead of {burn['wanted']:.1%}"


def _check_pay(part: Mapping[str, Any]) -> Iterator[str]:
    """Of what miners earn: what is burnt is nobody's."""
    honest = [row for row in part["miners"] if row["role"] == "honest"]
    paid = sum(row["incentive"] for row in part["miners"])
    share = sum(row["incentive"] for row in honest) / paid if paid else 0.0
    if share <= 0.5:
        yield f"the honest earn {share:.1%} of all pay"
    least = min((row["incentive"] for row in honest), default=0.0)
    for row in honest:
        if not row["incentive"]:
            yield f"{row['name']} is honest and earns nothing"
    for row in part["miners"]:
        if row["caught"] and row["incentive"] >= max(least, SMALLEST):
            yield f"{row['name']} earns {row['incentive']:.1%}, no less than an honest miner"


MAX_ROUNDS = 1000
CHARGES = {"size_penalty": "too long", "qty_penalty": "too many", "time_penalty": "too late"}


def _prove(runner: MechanismRunner) -> Iterator[ReplayedEntry]:
    """Every entry and table of a validator's journal, which must be signed by its hotkey."""
    pins = Pins(runner.weigh_in_context.own_hotkey)
    return Proof(runner.round_context.journal.store, load_mechanism, pins).lines()


async def conclude(subnet: DemoSubnet) -> dict[str, Any]:
    """Standings, weights and pay by mechanism and miner, as the first validator saw them, and what failed."""
    replayed = [line for runner in next(iter(subnet.runners.values())) for line in _prove(runner)]
    faults = [f"{one.ref}: {one.fault}" for one in replayed if one.fault]
    result: dict[str, Any] = {
        "mechanisms": {name: await _conclude_mechanism(subnet, name) for name in subnet.runners},
        "replay": {"entries": len(replayed), "equal": not faults, "faults": faults},
    }
    return {**result, "failures": find_failures(result)}


async def _conclude_mechanism(subnet: DemoSubnet, mechanism: str) -> dict[str, Any]:
    graph, runners = await subnet.metagraph(mechanism), subnet.runners[mechanism]
    context = runners[0].round_context
    lines = {line.hotkey: line for line in select_leaderboard(context.journal.store, context.mechanism, Averaging())}
    seen = _select_scores(runners[0])
    rows = [
        dict((await runner.weigh_in_context.chain.stored(runner.weigh_in_context.own_hotkey)).row) for runner in runners
    ]
    states = {runner.weigh_in_context.own_hotkey: _last_state(runner) for runner in runners}
    rounds = {runner.weigh_in_context.own_hotkey: _count_rounds(runner) for runner in runners}
    miners, validators, burn = [], [], None
    for neuron in graph.neurons:
        part, line = subnet.names[neuron.hotkey], lines.get(neuron.hotkey)
        if part.role == "owner":
            burn = _conclude_burn(context, neuron, rows)
            continue
        if part.role == "validator":
            shares = {"dividends": neuron.dividends / 65535, "vtrust": neuron.validator_trust / 65535}
            counts = rounds[neuron.hotkey]
            validators.append({"name": part.name, "weigh_in": states[neuron.hotkey], **counts, **shares})
            continue
        if mechanism not in part.acts:
            continue
        act, judged = part.acts[mechanism], seen[neuron.hotkey]
        miners.append(
            {
                "name": act.name,
                "role": part.role,
                "about": act.about,
                "note": act.note,
                "caught": act.caught,
                "uid": neuron.uid,
                "endpoint": neuron.endpoint,
                "rounds": len(judged.values),
                "valid": judged.valid,
                "late": judged.late,
                "score": fmean(judged.values) if judged.values else None,
                "reason": judged.reasons.most_common(1)[0][0] if judged.reasons else "",
                "standing": line.standing if line else None,
                "weights": [row.get(neuron.uid, 0) for row in rows],
                "incentive": neuron.incentive / 65535,
            }
        )
    return {"block": graph.block, "miners": miners, "validators": validators, "burn": burn}


def _conclude_burn(context: RoundContext, owner: Neuron, rows: Sequence[Mapping[int, int]]) -> dict[str, Any] | None:
    """The share to be burnt, what each validator set for it, and what the chain made of that; None if it is none."""
    wanted = context.mechanism.burn_share(context.params) if context.mechanism.burns else 0.0
    if not wanted:
        return None
    weights = [row.get(owner.uid, 0) for row in rows]
    shares = [value / (sum(row.values()) or 1) for value, row in zip(weights, rows, strict=True)]
    incentive = owner.incentive / 65535
    return {"uid": owner.uid, "wanted": wanted, "weights": weights, "shares": shares, "incentive": incentive}


def _last_state(runner: MechanismRunner) -> str:
    """How far the last submission got."""
    rows = runner.weigh_in_context.ledger.rows(1)
    return rows[-1].state if rows else "nothing submitted"


def _count_rounds(runner: MechanismRunner) -> dict[str, int]:
    lines = list_rounds(runner.round_context.journal.store, runner.name, limit=MAX_ROUNDS).items
    return {"rounds": len(lines), "void": sum(line.void for line in lines)}


@dataclass(slots=True)
class JudgedRounds:
    """A miner's rounds that count: its scores, how many are valid, how often it was late, and what most often stood
    in its way; of equals the newest."""

    values: list[float] = field(default_factory=list)
    valid: int = 0
    late: int = 0
    reasons: Counter[str] = field(default_factory=Counter)


def _select_scores(runner: MechanismRunner) -> Mapping[str, JudgedRounds]:
    """By hotkey."""
    seen: defaultdict[str, JudgedRounds] = defaultdict(JudgedRounds)
    store, mechanism = runner.round_context.journal.store, runner.round_context.mechanism
    for line in list_rounds(store, mechanism.name, limit=MAX_ROUNDS).items:
        kept = select_round(store, line.id, mechanism)
        late = {answer.hotkey for answer in kept.answers if answer.status == "timeout"}
        for score in kept.scored.scores:
            if score.value is not None:
                judged = seen[score.hotkey]
                judged.values.append(score.value)
                judged.valid += score.status == "valid"
                judged.late += score.hotkey in late
                judged.reasons[name_reason(score, kept.scored)] += 1
    return seen


def name_reason(score: Score, scored: Scored) -> str:
    """Why an answer failed; of a valid one, what cost it most. Shared pay is half of it or less, so nothing else does.

    >>> valid = Score("a", "valid", 40.0, {}, ("other_cluster",))
    >>> name_reason(valid, Scored((valid,), {})), name_reason(valid, Scored((valid,), {"copies": [{"hotkeys": ["a"]}]}))
    ('other_cluster', 'shares pay')
    """
    copies = scored.summary.get("copies", ())
    if score.status == "valid" and any(score.hotkey in copy["hotkeys"] for copy in copies):
        return "shares pay"
    if score.reasons:
        return score.reasons[0]
    charges = {name: (score.parts or {}).get(part, 0.0) for part, name in CHARGES.items()}
    worst = max(charges, key=lambda name: charges[name])
    return worst if charges[worst] > 0 else ""


NARRATED = "inference"
MAX_DELIVERY_TURNS = 10


async def deliver_rounds(subnet: DemoSubnet, narrator: Narrator | None = None) -> str:
    """Empty the first validator's outbox; gives the newest round that has a story."""
    runner = subnet.runners[NARRATED][0]
    store, clock = runner.round_context.journal.store, runner.clock
    alerts = Alerts(store, clock.now)
    place = open_artifacts(str(subnet.folder / "artifacts"))
    story = NarrativeJobs(store, clock, {NARRATED: runner.round_context.mechanism}, place, draw_in_process, narrator)
    exchange = ChallengeApi(store, clock, alerts, runner.weigh_in_context.own_hotkey)
    deliveries: dict[str, Delivery] = {
        "alerts": partial(raise_alerts, alerts),
        "copies": exchange.push_copies,
        "story": story.tell,
    }
    for _ in range(MAX_DELIVERY_TURNS):
        if not await deliver_due(store, clock, alerts, deliveries):
            break
    lines = list_rounds(store, NARRATED, limit=MAX_ROUNDS).items
    return next((line.id for line in lines if not line.void), lines[0].id)


def list_narratives(subnet: DemoSubnet, narrator: Narrator) -> list[dict[str, Any]]:
    """Of each round of the first validator, newest first: its narrative, and why it is not the model's if it is not."""
    store = subnet.runners[NARRATED][0].round_context.journal.store
    told = {line.id: select_extras(store, line.id).get("narrative") for line in list_rounds(store, NARRATED).items}
    return [
        {"round": name, "used": one.maker == narrator.id, "fault": one.fault, "text": one.value}
        for name, one in told.items()
        if one is not None
    ]
