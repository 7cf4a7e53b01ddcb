"""Authentication, rate limits, cache, thread pools and metrics that every API shares."""
