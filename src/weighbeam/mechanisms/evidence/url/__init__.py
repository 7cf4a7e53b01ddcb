"""Checks of a URL before its page is read: grammar, suffix, known hosts and lists."""
