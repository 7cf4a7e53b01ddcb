"""Play a season: rounds and weigh-ins by the engine's own rules over simulated answers."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from weighbeam.engine.journal.state import ReplayState, apply_round
from weighbeam.engine.rules.constants import CHALLENGE_INTERVAL_SECONDS, Averaging, WeighInLimits
from weighbeam.engine.rules.weighing import Weighing
from weighbeam.lab.simulate.measure import Trial, is_found_out
from weighbeam.lab.simulate.world import (
    MinerStrategy,
    MinerTurn,
    RecyclesHotkeys,
    SimulatedAnswer,
    SimulatedMiner,
    World,
    draw_chance,
)
from weighbeam.mechanism.records import Answer, Asked, Group, Standing, Task


@dataclass(frozen=True, slots=True)
class Season:
    """How long a season is. Rounds come as often as a validator plays them; weigh-ins more often than on a chain, so
    that a short season has enough of them."""

    rounds: int = 48
    weigh_every: int = 4
    seconds: float = CHALLENGE_INTERVAL_SECONDS
    averaging: Averaging = field(default_factory=Averaging)


@dataclass(slots=True)
class Seat:
    """A place on the subnet: who sits there, under which hotkey by now, how it plays (without a strategy: honestly),
    and what became of it."""

    who: SimulatedMiner
    hotkey: str
    strategy: MinerStrategy | None = None
    turns: int = 0
    since_named: int = 0
    named: int = 0
    earned: float = 0.0
    signs: list[int] = field(default_factory=list)


@dataclass(slots=True)
class SeasonState:
    """A season as it goes on. `held` are the weights on chain, which pay until others come."""

    world: World
    season: Season
    seed: int
    seats: list[Seat]
    reached: ReplayState = field(default_factory=ReplayState)
    departed: list[str] = field(default_factory=list)
    held: dict[str, float] = field(default_factory=dict)

    def find(self, hotkey: str) -> Seat:
        return next(seat for seat in self.seats if seat.hotkey == hotkey)

    def list_hotkeys(self) -> list[str]:
        return [seat.hotkey for seat in self.seats]


@dataclass(frozen=True, slots=True)
class Crew:
    """Miners of one operator that play one strategy; without one they are honest."""

    name: str
    strategy: MinerStrategy | None
    count: int


def play_season(
    world: World, strategy: MinerStrategy | None, attackers: int, seed: int, season: Season | None = None
) -> Trial:
    """A season of the world's honest miners and so many attackers; without a strategy they are honest as well."""
    seats = seat_miners(world.honest, [Crew("attacker", strategy, attackers)], seed)
    return play_seats(world, seats, seed, season)


def play_seats(world: World, seats: list[Seat], seed: int, season: Season | None = None) -> Trial:
    """A season of those who sit there."""
    world.begin(seed)
    course = SeasonState(world, season or Season(), seed, seats)
    for number in range(course.season.rounds):
        _play_round(course, number)
        if (number + 1) % course.season.weigh_every == 0:
            _weigh(course, _now(course, number))
    return _conclude(course)


def seat_miners(honest: int, crews: Sequence[Crew], seed: int) -> list[Seat]:
    """Skills are spread evenly, so that no seed has a better field than another; who sits where is drawn.

    >>> sorted(round(seat.who.skill, 2) for seat in seat_miners(3, [Crew("attacker", None, 1)], 0))
    [0.0, 0.5, 0.5, 1.0]
    """
    skills = [place / (honest - 1) if honest > 1 else 0.5 for place in range(honest)]
    people = [(SimulatedMiner(f"honest-{place:03}", "honest", skill), None) for place, skill in enumerate(skills)]
    hired = [
        (SimulatedMiner(f"{crew.name}-{place:03}", "attacker", 0.5), crew.strategy)
        for crew in crews
        for place in range(crew.count)
    ]
    seated = [Seat(who, _name(who, seed, 0), strategy) for who, strategy in (*people, *hired)]
    return [seated[place] for place in draw_chance(seed, "seats").permutation(len(seated))]


def _name(who: SimulatedMiner, seed: int, named: int) -> str:
    """A hotkey says nothing about its owner: who ties by hotkey must not win by name."""
    return f"{draw_chance(seed, who.name, named).integers(1 << 60):015x}-{who.name}-{named}"


def _now(course: SeasonState, number: int) -> float:
    return (number + 1) * course.season.seconds


def _stand(course: SeasonState, now: float) -> tuple[Standing, ...]:
    season = course.season
    return course.reached.stand(course.world.mechanism, course.list_hotkeys(), now, season.averaging, lookback=True)


def _play_round(course: SeasonState, number: int) -> None:
    """Choose, answer, observe, score, stand."""
    world, now = course.world, _now(course, number)
    task = world.make_task(number, draw_chance(course.seed, "task", number))
    standings = _stand(course, now)
    group = world.choose(standings, course.list_hotkeys(), f"{course.seed}/{number}")
    said = _ask(course, number, task, group, standings)
    answers = tuple(Answer(hotkey, one.payload, one.seconds, one.status) for hotkey, one in said.items())
    asked = Asked(task, group, answers, f"{course.seed}/{number}", at=now)
    observation = world.observe(asked)
    before = course.reached.standings
    scored, after = apply_round(world.mechanism, world.params, course.departed, observation, before)
    course.reached.take(f"{number:06}", now, course.departed, scored, after)
    course.departed = []
    signs = set(world.find_signs(observation, scored))
    for hotkey in said:
        _note_turn(course, course.find(hotkey), hotkey in signs)


def _ask(
    course: SeasonState, number: int, task: Task, group: Group, standings: Sequence[Standing]
) -> dict[str, SimulatedAnswer]:
    """The honest first, since some attackers listen; then in the order asked."""
    world, said = course.world, dict[str, SimulatedAnswer]()
    for role in ("honest", "attacker"):
        heard = dict(said)
        for hotkey in group.members:
            seat = course.find(hotkey)
            if seat.who.role == role:
                chance = draw_chance(course.seed, "turn", number, seat.who.name)
                turn = MinerTurn(seat.who, hotkey, task, number, seat.turns, standings, heard, chance)
                said[hotkey] = seat.strategy.answer(world, turn) if seat.strategy else world.answer(turn)
    return {hotkey: said[hotkey] for hotkey in group.members}


def _note_turn(course: SeasonState, seat: Seat, sign: bool) -> None:
    """Signs are counted for each hotkey: nobody knows that the next one is the same miner's."""
    if sign:
        seat.signs.append(seat.since_named)
    seat.turns += 1
    seat.since_named += 1
    if isinstance(seat.strategy, RecyclesHotkeys) and seat.strategy.leaves(seat.since_named):
        course.departed.append(seat.hotkey)
        seat.signs = seat.signs if is_found_out(seat.signs) else []
        seat.named, seat.since_named = seat.named + 1, 0
        seat.hotkey = _name(seat.who, course.seed, seat.named)


def _weigh(course: SeasonState, now: float) -> None:
    """A weigh-in of the engine; what it skips leaves the weights before it on chain."""
    uids = {seat.hotkey: uid for uid, seat in enumerate(course.seats)}
    weighing = Weighing.plan(uids, now, WeighInLimits(), course.season.averaging)
    decision = course.reached.weigh(course.world.mechanism, course.world.params, weighing).decide()
    if decision.action == "submit":
        course.held = decision.weights
    for seat in course.seats:
        seat.earned += course.held.get(seat.hotkey, 0.0)


def _conclude(course: SeasonState) -> Trial:
    now = _now(course, course.season.rounds - 1)
    sign = -1.0 if course.world.mechanism.better == "lower" else 1.0
    values = {standing.hotkey: standing.value for standing in _stand(course, now)}
    found = {seat.who.name: values.get(seat.hotkey) for seat in course.seats}
    earned = {seat.who.name: seat.earned for seat in course.seats}
    return Trial(
        seed=course.seed,
        earned=earned,
        attackers=frozenset(seat.who.name for seat in course.seats if seat.who.role == "attacker"),
        honest=frozenset(seat.who.name for seat in course.seats if seat.who.role == "honest"),
        fair=sum(earned.values()) / len(earned),
        signs={seat.who.name: tuple(seat.signs) for seat in course.seats},
        turns={seat.who.name: seat.turns for seat in course.seats},
        skill={seat.who.name: seat.who.skill for seat in course.seats if seat.who.role == "honest"},
        standing={name: sign * value for name, value in found.items() if value is not None},
    )
