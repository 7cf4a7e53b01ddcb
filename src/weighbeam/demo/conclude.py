"""What the demo came to: by mechanism who earned what and why, and whether the journals replay."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from statistics import fmean
from typing import Any

from weighbeam.demo.claims import find_failures
from weighbeam.demo.subnet import Subnet
from weighbeam.engine.insight.leaderboard import read_leaderboard
from weighbeam.engine.kept_round import read_round
from weighbeam.engine.reading.rounds import list_rounds
from weighbeam.engine.replay import replay
from weighbeam.engine.validator import Post
from weighbeam.engine.weigh_in.constants import Averaging
from weighbeam.mechanisms.contract import Score, Scored
from weighbeam.mechanisms.registry import load_mechanism

MOST_ROUNDS = 1000
CHARGES = {"size_penalty": "too long", "qty_penalty": "too many", "time_penalty": "too late"}


async def conclude(subnet: Subnet) -> dict[str, Any]:
    """Standings, weights and pay by mechanism and miner, as the first validator saw them, and what failed."""
    stores = [post.bench.journal.store for post in next(iter(subnet.posts.values()))]
    replayed = [one for store in stores for one in replay(store, load_mechanism)]
    faults = [f"{one.ref}: {one.fault}" for one in replayed if one.fault]
    result: dict[str, Any] = {
        "mechanisms": {name: await _conclude_mechanism(subnet, name) for name in subnet.posts},
        "replay": {"entries": len(replayed), "equal": not faults, "faults": faults},
    }
    return {**result, "failures": find_failures(result)}


async def _conclude_mechanism(subnet: Subnet, mechanism: str) -> dict[str, Any]:
    graph, posts = await subnet.metagraph(mechanism), subnet.posts[mechanism]
    bench = posts[0].bench
    lines = {line.hotkey: line for line in read_leaderboard(bench.journal.store, bench.mechanism, Averaging())}
    values, reasons = _read_scores(posts[0])
    rows = [dict((await post.scale.chain.stored(post.scale.own_hotkey)).row) for post in posts]
    states = {post.scale.own_hotkey: _last_state(post) for post in posts}
    miners, validators = [], []
    for neuron in graph.neurons:
        part, line = subnet.names[neuron.hotkey], lines.get(neuron.hotkey)
        if part.role == "validator":
            shares = {"dividends": neuron.dividends / 65535, "vtrust": neuron.validator_trust / 65535}
            validators.append({"name": part.name, "weigh_in": states[neuron.hotkey], **shares})
            continue
        act = part.acts[mechanism]
        miners.append(
            {
                "name": act.name,
                "role": part.role,
                "about": act.about,
                "caught": act.caught,
                "uid": neuron.uid,
                "endpoint": neuron.endpoint,
                "rounds": line.rounds if line else 0,
                "valid": line.valid if line else 0,
                "score": fmean(values[neuron.hotkey]) if values[neuron.hotkey] else None,
                "reason": reasons.get(neuron.hotkey, ""),
                "standing": line.standing if line else None,
                "weights": [row.get(neuron.uid, 0) for row in rows],
                "incentive": neuron.incentive / 65535,
            }
        )
    return {"block": graph.block, "miners": miners, "validators": validators}


def _last_state(post: Post) -> str:
    """How far the last submission got."""
    rows = post.scale.ledger.rows(1)
    return rows[-1].state if rows else "nothing submitted"


def _read_scores(post: Post) -> tuple[Mapping[str, list[float]], dict[str, str]]:
    """By hotkey every score, and what most often stood in its way; of equals the newest."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    reasons: defaultdict[str, Counter[str]] = defaultdict(Counter)
    store, mechanism = post.bench.journal.store, post.bench.mechanism
    for line in list_rounds(store, mechanism.name, most=MOST_ROUNDS).items:
        scored = read_round(store, line.id, mechanism).scored
        for score in scored.scores:
            reasons[score.hotkey][_name_reason(score, scored)] += 1
            if score.value is not None:
                values[score.hotkey].append(score.value)
    return values, {hotkey: counted.most_common(1)[0][0] for hotkey, counted in reasons.items()}


def _name_reason(score: Score, scored: Scored) -> str:
    """Why an answer failed; of a valid one, what it was charged for most."""
    if score.reasons:
        return score.reasons[0]
    if any(score.hotkey in copy["hotkeys"] for copy in scored.summary.get("copies", ())):
        return "shares pay"
    charges = {name: (score.parts or {}).get(part, 0.0) for part, name in CHARGES.items()}
    worst = max(charges, key=lambda name: charges[name])
    return worst if charges[worst] > 0 else ""
