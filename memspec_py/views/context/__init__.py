"""What to know before work starts: the best records of the stores, within a budget."""
