"""The domain: facts about distributions, and who owns a module. Nothing here reads a file."""

from seam.deplint.facts._model import (
    Distribution,
    EntryPoint,
    FileScan,
    Import,
    ImportKind,
    Module,
    Place,
    Problem,
    RawImport,
    Requirement,
    Section,
    SourceKind,
    Waiver,
)
from seam.deplint.facts._names import canonical
from seam.deplint.facts._ownership import Ownership

__all__ = [
    "Distribution",
    "EntryPoint",
    "FileScan",
    "Import",
    "ImportKind",
    "Module",
    "Ownership",
    "Place",
    "Problem",
    "RawImport",
    "Requirement",
    "Section",
    "SourceKind",
    "Waiver",
    "canonical",
]
