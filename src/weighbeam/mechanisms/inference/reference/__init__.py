"""Tasks whose right answer is known: what is expected, what an answer says, and whether that is true (spec § 17)."""
