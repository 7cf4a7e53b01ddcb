"""Answers written beforehand, of which honest populations are made."""
