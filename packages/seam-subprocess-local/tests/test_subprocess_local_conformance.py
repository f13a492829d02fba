"""The kit of the contract over the local runtime as it is configured by default."""

from __future__ import annotations

import pytest

from seam.subprocess_def.conformance import *  # noqa: F403  # pyright: ignore[reportWildcardImportFromLibrary] - the kit's own way in
from seam.subprocess_def.conformance import Subject
from seam.subprocess_local import open_runtime


@pytest.fixture
def subprocess_subject() -> Subject:
    """The default level on this machine."""
    return Subject("local", open_runtime, opener="seam.subprocess_local:open_runtime")
