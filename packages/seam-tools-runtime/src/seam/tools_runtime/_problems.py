"""What is wrong with a value, in words: where and why, never the value itself (it may be a secret, or huge)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

MOST = 10
"""So many problems are told; a model repairs them in one go, and more would only fill its window."""

LONGEST = 300
"""So many characters of one problem."""


def told(problems: Iterable[tuple[str, str]]) -> str:
    """Problems as `place: what`, one after the other, bounded."""
    shown = list(islice(problems, MOST + 1))
    lines = [cut(f"{place or '(whole)'}: {text}", LONGEST) for place, text in shown[:MOST]]
    if len(shown) > MOST:
        lines.append("and more")
    return "; ".join(lines)


def cut(text: str, most: int) -> str:
    """At most so many characters, marked where something was cut."""
    return text if len(text) <= most else text[: most - 1] + "…"
