"""Replies as lines of text, the same for a terminal and for an agent: no front, no decision."""
