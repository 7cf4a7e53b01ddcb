"""Recorded rounds under other parameters, or another version, beside what they led to: who gains, who loses, and why.

survey → support (what can be told at all) → play (both sides, round by round) → compare → tell
"""
