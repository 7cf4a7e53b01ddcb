"""Pure mathematics shared by the mechanisms: no clock, no chance, no model, no socket, no file."""
