"""A whole subnet on one machine: a chain, three mechanisms, honest and hostile miners with addresses, validators."""
