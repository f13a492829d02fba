"""The rules: pure functions from a view of facts to findings."""

from seam.deplint.rules._catalogue import BY_ID, RULES
from seam.deplint.rules._finding import Finding, Rule
from seam.deplint.rules._roles import Assigned
from seam.deplint.rules._sources import problems
from seam.deplint.rules._view import Edge, View

__all__ = ["BY_ID", "RULES", "Assigned", "Edge", "Finding", "Rule", "View", "problems"]
