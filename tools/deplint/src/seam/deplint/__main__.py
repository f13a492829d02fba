"""`python -m seam.deplint`."""

from seam.deplint.cli import main

raise SystemExit(main())
