"""From standings to the decision to set weights: filter, gate, average, check, normalise (docs/spec/weigh-in.md)."""
