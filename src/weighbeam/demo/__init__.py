"""A whole subnet on one machine: a chain, miners honest and hostile on addresses of their own, two validators."""
