"""Leases: a hold on one generation. Nothing of it is disposed while one is out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seam.tools_def import Lease, LeaseInvalid

if TYPE_CHECKING:
    from seam.host._generation import Generation


class HostLease(Lease):
    """Given by a generation to one turn."""

    def __init__(self, generation: Generation) -> None:
        self._generation = generation
        self._released = False

    @property
    def generation(self) -> int:
        """The number of the generation that it holds."""
        return self._generation.number

    @property
    def live(self) -> bool:
        """Whether new calls may start."""
        return not self._released and self._generation.admits_calls

    def check(self) -> None:
        """Raise where no call may start, saying why."""
        if self._released:
            raise LeaseInvalid(
                f"the lease on generation {self.generation} was given back; open a new turn",
                generation=self.generation,
            )
        if not self._generation.admits_calls:
            raise LeaseInvalid(
                f"generation {self.generation} was retired and its drain deadline has passed; open a new turn",
                generation=self.generation,
            )

    async def release(self) -> None:
        """Give it back; idempotent."""
        if not self._released:
            self._released = True
            self._generation.returned(self)
