"""OpenAI-compatible chat endpoints: assessor and narrator."""
