"""Agreement between answers: filter, clusters, consensus, and alerts about them."""
