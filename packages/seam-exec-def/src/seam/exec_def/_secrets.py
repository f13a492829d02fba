"""The service behind the key `secrets`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping

from pydantic import SecretStr

from seam.exec_def._environment import SecretRef
from seam.kernel import Service


class Secrets(Service, key="secrets"):
    """Knows the values of secrets. It is asked at spawn, each time; nobody keeps what it answers."""

    @abstractmethod
    def knows(self, reference: SecretRef) -> bool:
        """Whether a source is configured for it; says nothing about whether the source has a value."""

    @abstractmethod
    async def reveal(self, references: Iterable[SecretRef]) -> Mapping[SecretRef, SecretStr]:
        """Return the value of each.

        Raises:
            UnknownSecret: no source is configured for one of them.
            SecretUnavailable: a source gave no value, or one that no environment can hold (empty, NUL).
        """
