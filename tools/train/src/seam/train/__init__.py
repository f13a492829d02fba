"""Stamp and check the version of the train, and build its wheels; run as `python -m seam.train`."""
