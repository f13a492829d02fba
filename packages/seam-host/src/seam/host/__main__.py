"""The command `seam` as `python -m seam.host`, for interpreters whose scripts are not on the path."""

from __future__ import annotations

from seam.host.cli import main

if __name__ == "__main__":
    main()
