"""A small interpreter of a small part of Python: for code that miners write, which is never executed."""
