"""Pictures of chunking: how a reward comes about, the groups of a ranking, and what each place is paid."""
