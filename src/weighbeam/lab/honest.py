"""Honest work by somebody who could also do otherwise."""

from dataclasses import replace

from weighbeam.lab.world import Said, Turn, World


def answer_as(world: World, turn: Turn, skill: float) -> Said:
    """What an honest miner of another skill would say at this turn."""
    return world.answer(replace(turn, me=replace(turn.me, skill=skill)))
