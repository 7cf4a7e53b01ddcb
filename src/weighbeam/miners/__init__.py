"""Shared by miners of every mechanism: custom handlers, and hostile replies below the handler."""
