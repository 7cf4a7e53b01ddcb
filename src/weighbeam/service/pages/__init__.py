"""The dashboard: pages rendered here, a style sheet and two small programs of our own, nothing from elsewhere."""
