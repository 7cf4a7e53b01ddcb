"""The chain as the engine sees it: the contract of a chain, weight rows, and two chains that keep it."""
