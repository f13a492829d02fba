"""The distributions that a deployment stands on, from metadata alone."""

from __future__ import annotations

from importlib.metadata import version

from packaging.utils import canonicalize_name

from seam.host._deployment import Deployment
from seam.host._inventory import Inventory, RowError
from seam.host._outcomes import RowProblem
from seam.kernel import Value


class RequiredDistribution(Value):
    """One distribution.

    Attributes:
        version: what is installed here, or None.
        rows: the tables that need it; empty for the host itself.
    """

    name: str
    version: str | None = None
    rows: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """A line for pip, pinned where it is installed."""
        return self.name if self.version is None else f"{self.name}=={self.version}"


class Required(Value):
    """What a deployment stands on.

    Attributes:
        distributions: by name; the host first.
        problems: rows whose distribution nobody can know, or that is chosen in a way that does not work.
    """

    distributions: tuple[RequiredDistribution, ...]
    problems: tuple[RowProblem, ...] = ()


def required(deployment: Deployment, inventory: Inventory | None = None) -> Required:
    """The distributions that the rows of a deployment come from; nothing is imported."""
    installed = inventory or Inventory.read()
    rows: dict[str, list[str]] = {}
    found: dict[str, RequiredDistribution] = {}
    problems: list[RowProblem] = []
    for row in deployment.every_row:
        try:
            provider = installed.resolve(row)
        except RowError as error:
            if row.distribution is None:
                problems.append(error.problem)
                continue
            here = installed.distribution(row.distribution)
            name, number = row.distribution, None if here is None else here.version
        else:
            name, number = provider.distribution, provider.version
        rows.setdefault(canonicalize_name(name), []).append(row.table)
        found[canonicalize_name(name)] = RequiredDistribution(name=name, version=number)
    host = RequiredDistribution(name="seam-host", version=version("seam-host"))
    others = [item.model_copy(update={"rows": tuple(rows[name])}) for name, item in sorted(found.items())]
    return Required(distributions=(host, *others), problems=tuple(problems))
