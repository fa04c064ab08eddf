"""Who wrote a record, what attests to it, and who may change it."""
