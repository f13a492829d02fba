"""What a rule says: one finding, with an id that survives moved lines."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from seam.deplint.facts import Place
from seam.deplint.rules._view import View
from seam.deplint.settings import Severity


@dataclass(frozen=True, slots=True)
class Finding:
    """One violation. `subject` is what the finding is about, in words that do not change when lines move."""

    rule: str
    distribution: str
    subject: str
    place: Place
    message: str
    way_out: str
    edge: tuple[str, str] | None = None
    chain: tuple[str, ...] = ()
    also_at: tuple[Place, ...] = ()
    severity: Severity = Severity.ERROR

    @property
    def id(self) -> str:
        """Stable over moved lines and other checkouts: rule, distribution, file and subject."""
        text = "\0".join((self.rule, self.distribution, self.place.path, self.subject))
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its id (also the name of its page), one line on what it demands, its severity unless configured."""

    id: str
    title: str
    severity: Severity
    check: Callable[[View], Iterator[Finding]] | None = None
    whole: bool = False
    """Only meaningful where the view holds a whole workspace, not a single wheel."""
