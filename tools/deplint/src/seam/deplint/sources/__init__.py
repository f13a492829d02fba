"""Adapters that read facts: source trees, wheels and sdists, installed environments. None of them runs what it reads."""

from seam.deplint.sources._cache import FOLDER as CACHE_FOLDER
from seam.deplint.sources._cache import ScanCache
from seam.deplint.sources._manifest import read_toml
from seam.deplint.sources._scan import scan_source
from seam.deplint.sources._table import Table, TableError
from seam.deplint.sources._tree import TreeOptions, read_tree

__all__ = [
    "CACHE_FOLDER",
    "ScanCache",
    "Table",
    "TableError",
    "TreeOptions",
    "read_toml",
    "read_tree",
    "scan_source",
]
