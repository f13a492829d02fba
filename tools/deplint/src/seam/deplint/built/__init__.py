"""Adapters that read what was built: wheels, sdists, installed environments. Apart from `sources`, since a run on a
source tree should not pay for importing zip and tar readers."""

from seam.deplint.built._environment import Environment, EnvironmentOptions, read_environment
from seam.deplint.built._interpreter import NoEnvironment, site_folders
from seam.deplint.built._metadata import record_digest
from seam.deplint.built._sdist import read_sdist
from seam.deplint.built._wheel import NotAnArchive, read_wheel

__all__ = [
    "Environment",
    "EnvironmentOptions",
    "NoEnvironment",
    "NotAnArchive",
    "read_environment",
    "read_sdist",
    "read_wheel",
    "record_digest",
    "site_folders",
]
