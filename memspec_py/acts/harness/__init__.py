"""Setting up the agents' harnesses: what stands in which of their files, put in and taken out."""
