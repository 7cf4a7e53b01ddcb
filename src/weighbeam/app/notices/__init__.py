"""Notifications of alerts, sent by a subprocess."""
