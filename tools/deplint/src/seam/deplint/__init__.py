"""seam-deplint: the dependency law of namespace distributions, checked without importing what is checked."""
