"""The journal: records of rounds, their hash chain, projections, checkpoints and replay."""
