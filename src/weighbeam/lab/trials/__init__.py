"""Trials over seeds and parameters, spread over processes or a cluster."""
