"""The mechanisms that ship with Weighbeam, one folder each; none imports another."""
