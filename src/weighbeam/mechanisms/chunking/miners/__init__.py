"""Reference chunking miners, honest and hostile, and the chunkers they use."""
