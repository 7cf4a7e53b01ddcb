"""A mechanism that lives outside weighbeam and plugs into it: pays for short answers that name every keyword."""
