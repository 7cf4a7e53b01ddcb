"""Proof of a whole journal: entries, heads, seals, replies, submissions and the tables of mechanisms."""
