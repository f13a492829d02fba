"""seam-deplint: the dependency law of namespace distributions, checked without importing what is checked."""

from seam.deplint._check import Report
from seam.deplint._collect import NotChecked
from seam.deplint._embed import check_tree
from seam.deplint.facts import Place
from seam.deplint.rules import Finding
from seam.deplint.settings import ConfigurationError, Severity

__all__ = ["ConfigurationError", "Finding", "NotChecked", "Place", "Report", "Severity", "check_tree"]
