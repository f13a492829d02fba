"""Small workspaces for tests and benchmarks: a lawful house, and members to damage."""

from seam.deplint.testing._house import House, Member, lawful_house

__all__ = ["House", "Member", "lawful_house"]
