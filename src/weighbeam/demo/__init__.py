"""A whole subnet on one machine: a chain, three mechanisms, miners honest and hostile with addresses, two validators."""
