"""What each mechanism is played in: its tasks, and miners that answer them honestly with more or less skill."""
