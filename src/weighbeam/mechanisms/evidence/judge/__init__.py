"""Judgement of snippets and answers: models, signals, duplicates, response scores and the verdict."""
