"""Alerts with codes and remedies, and the notices that follow from them."""
