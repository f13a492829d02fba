"""The data that `describe` returns."""

from __future__ import annotations

from seam.kernel._instance import State
from seam.kernel._value import Value


class ServiceFacts(Value):
    """A service that can be used in a scope now."""

    key: str
    provider: str
    """Name of the instance that provides it."""
    service: str
    """Qualified name of the abstract class."""


class InstanceFacts(Value):
    """An instance as it is listed in a scope."""

    name: str
    plugin: str
    module: str
    distribution: str | None
    state: State
    requires: tuple[str, ...]
    optional: tuple[str, ...]
    provides: tuple[str, ...]
    uses: dict[str, str]
    """Key to the name of the instance that provides it, while this one runs."""
    missing: tuple[str, ...]
    error: str | None
    faults: int
    holders: tuple[str, ...]
    children: tuple[InstanceFacts, ...]
    """Instances that it loaded itself."""


class ScopeFacts(Value):
    """A scope and everything below it."""

    name: str
    sealed: bool
    isolate: tuple[str, ...]
    services: tuple[ServiceFacts, ...]
    """Provided by the instances listed here; what is above is not repeated."""
    instances: tuple[InstanceFacts, ...]
    children: tuple[ScopeFacts, ...]
