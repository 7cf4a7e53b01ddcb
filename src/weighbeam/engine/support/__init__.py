"""Clock, lock, cache and process helpers that the other rooms of the engine share."""
