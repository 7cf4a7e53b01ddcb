"""The catalogue of attacks, and the comparison of their results with what is expected."""
