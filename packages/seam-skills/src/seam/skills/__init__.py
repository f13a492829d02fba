"""Skills from a folder, and the `skill` tool. Folded consumer."""

from seam.skills._plugin import SkillsConfig, skills

__all__ = ["SkillsConfig", "skills"]
