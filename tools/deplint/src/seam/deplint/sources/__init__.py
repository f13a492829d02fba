"""Adapters that read what is written: source trees and deployment files. Nothing that is read is run."""

from seam.deplint.sources._cache import FOLDER as CACHE_FOLDER
from seam.deplint.sources._cache import ScanCache
from seam.deplint.sources._deployment import Deployment, Row, read_deployment
from seam.deplint.sources._manifest import read_toml
from seam.deplint.sources._scan import scan_source
from seam.deplint.sources._table import Table, TableError
from seam.deplint.sources._tree import TreeOptions, read_tree

__all__ = [
    "CACHE_FOLDER",
    "Deployment",
    "Row",
    "ScanCache",
    "Table",
    "TableError",
    "TreeOptions",
    "read_deployment",
    "read_toml",
    "read_tree",
    "scan_source",
]
