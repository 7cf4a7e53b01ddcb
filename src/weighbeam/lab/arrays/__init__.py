"""Standings, averages and weights of many validators at once, as arrays [validators, miners].

To the bit what the mechanism and the engine compute for one validator and one miner at a time: a simulated year holds
millions of rounds, and each of these functions is held to the code that pays by a property test.
"""
