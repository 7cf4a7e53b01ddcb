"""Recorded rounds under other parameters or another version, compared with the original: who gains, who loses, and why.

survey → support (which changes can be judged) → play (both sides, round by round) → compare → describe
"""
