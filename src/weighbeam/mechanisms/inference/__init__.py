"""Mechanism `inference`: answer a prompt well, and in agreement with the others who do (docs/spec/inference.md)."""
