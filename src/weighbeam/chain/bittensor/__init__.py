"""The real chain, through its own SDK; which is imported only when such a chain is opened."""
