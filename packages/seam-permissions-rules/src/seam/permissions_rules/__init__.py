"""Permissions by rules in the deployment. Implementer of `permissions`, mechanism `rules`."""

from seam.permissions_rules._config import Rule, RulesConfig
from seam.permissions_rules._plugin import rules
from seam.permissions_rules._service import RulesPermissions

__all__ = ["Rule", "RulesConfig", "RulesPermissions", "rules"]
