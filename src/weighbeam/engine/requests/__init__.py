"""Requests from outside: organic questions, challenges, their queue and the tokens of their senders."""
