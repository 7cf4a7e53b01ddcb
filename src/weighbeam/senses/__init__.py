"""What turns text into numbers. Mechanisms know only `ports`; everything else here implements them."""
