"""Anchors: the code a claim depends on, found and compared."""
