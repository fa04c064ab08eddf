"""Stores: the only code that reads or writes record files."""
