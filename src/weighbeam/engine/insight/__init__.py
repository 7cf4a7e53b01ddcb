"""What the store says about miners, weights, the chain and attacks, for people to look at. None asks a chain."""
