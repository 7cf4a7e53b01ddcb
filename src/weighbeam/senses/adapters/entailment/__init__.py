"""Entailment models: pairs of texts to contradiction, neutral and entailment."""
