"""Seasons of many validators over the same miners: honest ones, weight copiers, and those who favour their own."""
