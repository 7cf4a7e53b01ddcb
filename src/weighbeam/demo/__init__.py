"""A whole subnet on one machine: a chain, two mechanisms, miners honest and hostile with addresses, two validators."""
