"""How many rounds a machine can play, calculated from measured units."""
