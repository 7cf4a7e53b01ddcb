"""The lab: populations of miners, attacks, backtests and sweeps over the very code that pays.

Everything after *observe* is a pure function, so a simulated round differs from a live one only in where its answers
come from. A world makes tasks and honest answers, an attack plays some of the miners, a season is rounds and weigh-ins.
"""
