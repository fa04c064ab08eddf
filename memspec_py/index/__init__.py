"""The index: a SQLite file that can be deleted at any time, and search over it."""
