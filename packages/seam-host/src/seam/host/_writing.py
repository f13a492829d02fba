"""Configuration is written whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_new(path: Path, text: str, *, replace: bool = False) -> None:
    """Write a file in one step: a crash leaves the old one, or none, never half of one.

    Raises:
        FileExistsError: it is there, and `replace` was not asked for; also when it appears meanwhile.
        OSError: the folder is not there or cannot be written.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123 - the descriptor is open already
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            draft.replace(path)
        else:
            os.link(draft, path)  # refuses to replace, in one step
    finally:
        draft.unlink(missing_ok=True)
