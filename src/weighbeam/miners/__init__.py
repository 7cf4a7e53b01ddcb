"""What miners of any mechanism share: loading a handler of one's own, and hostile replies below the handler."""
