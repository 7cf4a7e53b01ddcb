"""What a running validator says over HTTP."""
