"""Configuration: its model, the presets, and reading it from TOML."""

from seam.deplint.settings._model import Ignore, Role, Settings, Severity
from seam.deplint.settings._presets import PRESETS
from seam.deplint.settings._read import FILE, ConfigurationError, find_settings, read_settings

__all__ = [
    "FILE",
    "PRESETS",
    "ConfigurationError",
    "Ignore",
    "Role",
    "Settings",
    "Severity",
    "find_settings",
    "read_settings",
]
