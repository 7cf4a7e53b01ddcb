"""Whether chunks bring back what answers a question, beside the reward and, where an owner wants it, inside it."""
