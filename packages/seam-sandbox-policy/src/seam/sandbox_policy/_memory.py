"""What is the same for every call of one policy service: texts expanded, rules made. Nothing here looks at a disk."""

from __future__ import annotations

from seam.sandbox_def import PathRule
from seam.sandbox_policy._canonical import BadPath, Places, expand

_MOST = 4096
"""Entries of each kind; a service that sees more workspaces than that begins anew."""


class Memory:
    """Remembers values that follow from their arguments alone, since making them takes most of the time of a call."""

    def __init__(self) -> None:
        self._rules: dict[tuple[str, str, str, str], PathRule] = {}
        self._expanded: dict[tuple[str, Places], str | BadPath] = {}

    def rule(self, real: str, written: str, reason: str, source: str) -> PathRule:
        """The rule for a canonical path; the same object for the same arguments."""
        key = real, written, reason, source
        found = self._rules.get(key)
        if found is None:
            if len(self._rules) >= _MOST:
                self._rules.clear()
            given = written if written != real else None
            # Canonical paths need no second validation.
            found = PathRule.model_construct(path=real, reason=reason, source=source, given=given)
            self._rules[key] = found
        return found

    def expand(self, written: str, places: Places) -> str:
        """As `expand`.

        Raises:
            BadPath: as `expand`.
        """
        key = written, places
        found = self._expanded.get(key)
        if found is None:
            if len(self._expanded) >= _MOST:
                self._expanded.clear()
            try:
                found = expand(written, places)
            except BadPath as error:
                found = error
            self._expanded[key] = found
        if isinstance(found, BadPath):
            raise BadPath(str(found))
        return found
