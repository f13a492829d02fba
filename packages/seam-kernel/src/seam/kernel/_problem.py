"""What keeps a scope from being complete."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from seam.kernel._instance import Instance


@dataclass(frozen=True)
class Problem:
    """One reason, for one instance or one cycle.

    Attributes:
        kind: `missing` (pending, keys without a provider), `cycle` (instances that wait for one another),
            `failed` (it raised; `cause`), `divergent` (adopted, but this scope resolves one of its keys otherwise).
        instance: the instance concerned; for a cycle the one it starts at.
        keys: the keys concerned.
        path: names of the instances on a cycle, the first one again at the end; otherwise empty.
        cause: what a failed instance raised.
        text: one sentence for a person.
    """

    kind: Literal["missing", "cycle", "failed", "divergent"]
    instance: Instance
    keys: tuple[str, ...]
    path: tuple[str, ...]
    cause: BaseException | None
    text: str
