"""Reference miners: what an honest (or hostile) one might answer."""
