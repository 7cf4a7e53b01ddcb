"""One page of results that needs nothing else: no network, no script, readable in the dark and on a telephone."""
