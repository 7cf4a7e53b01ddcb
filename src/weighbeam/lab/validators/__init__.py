"""Validators of several minds over the same miners: those who work, those who copy, those who favour their own."""
