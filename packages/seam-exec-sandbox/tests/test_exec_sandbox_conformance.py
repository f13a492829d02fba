"""The kit of seam-exec-def over seam-exec-sandbox; the fixture `exec_subject` is in conftest.py."""

from seam.exec_def.conformance import *  # noqa: F403  # pyright: ignore[reportWildcardImportFromLibrary]  # the kit's own way in
