"""The rules: pure functions from a view of facts to findings."""

from seam.deplint.rules._catalogue import BY_ID, RULES
from seam.deplint.rules._cycles import shortest_path
from seam.deplint.rules._deployments import deployment_row
from seam.deplint.rules._drift import drift
from seam.deplint.rules._finding import Finding, Rule
from seam.deplint.rules._namespace import leaf_of
from seam.deplint.rules._roles import Assigned, assign
from seam.deplint.rules._sources import problems
from seam.deplint.rules._view import Edge, View

__all__ = [
    "BY_ID",
    "RULES",
    "Assigned",
    "Edge",
    "Finding",
    "Rule",
    "View",
    "assign",
    "deployment_row",
    "drift",
    "leaf_of",
    "problems",
    "shortest_path",
]
