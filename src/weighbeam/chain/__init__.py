"""What a validator needs from a chain."""
