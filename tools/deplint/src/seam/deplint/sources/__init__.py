"""Adapters that read facts: trees, wheels, sdists, environments, deployments. None of them runs what it reads."""

from seam.deplint.sources._cache import FOLDER as CACHE_FOLDER
from seam.deplint.sources._cache import ScanCache
from seam.deplint.sources._deployment import Deployment, Row, read_deployment
from seam.deplint.sources._environment import Environment, EnvironmentOptions, read_environment
from seam.deplint.sources._interpreter import NoEnvironment, site_folders
from seam.deplint.sources._manifest import read_toml
from seam.deplint.sources._metadata import record_digest
from seam.deplint.sources._scan import scan_source
from seam.deplint.sources._sdist import read_sdist
from seam.deplint.sources._table import Table, TableError
from seam.deplint.sources._tree import TreeOptions, read_tree
from seam.deplint.sources._wheel import NotAnArchive, read_wheel

__all__ = [
    "CACHE_FOLDER",
    "Deployment",
    "Environment",
    "EnvironmentOptions",
    "NoEnvironment",
    "NotAnArchive",
    "Row",
    "ScanCache",
    "Table",
    "TableError",
    "TreeOptions",
    "read_deployment",
    "read_environment",
    "read_sdist",
    "read_toml",
    "read_tree",
    "read_wheel",
    "record_digest",
    "scan_source",
    "site_folders",
]
