"""A mechanism that lives outside weighbeam and plugs into it: pays for short answers that name every keyword.

score = recall · brevity      recall = share of keywords named      brevity = min(1, allowance / words)
standing = moving average     weight ∝ standing
"""
