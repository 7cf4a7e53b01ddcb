"""Exact search over many vectors: the flat index and the 8-bit one."""
