"""Benchmarks: how fast the product is against floors, and how well it ranks against others."""
