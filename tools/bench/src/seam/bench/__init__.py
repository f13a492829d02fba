"""Benchmarks of Seam; `python -m seam.bench`."""
