"""Where the commands print: results on standard output, everything said about them on standard error."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def out() -> Console:
    """Standard output for people: colours on a terminal only, long words folded, nothing cut off."""
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=False)


def err() -> Console:
    """Standard error for people."""
    from rich.console import Console

    return Console(file=sys.stderr, highlight=False, markup=False, emoji=False, soft_wrap=False)


def print_json(value: object) -> None:
    """One JSON document on standard output, for programs; never coloured, never wrapped."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False, sort_keys=False) + "\n")


def print_line(text: str) -> None:
    """A line for programs."""
    sys.stdout.write(f"{text}\n")
