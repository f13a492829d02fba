"""From a row of a deployment to the distribution that provides it; nothing is imported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import Literal, Self

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from seam.host._deployment import Row
from seam.host._entry_points import EntryPoint
from seam.host._installed import FAMILY, Installed, InstalledProblem, read_installed
from seam.host._outcomes import HostError, RowProblem
from seam.kernel import Value


class RowError(HostError):
    """A row has no plugin. Facts: `problem` (RowProblem)."""

    code = "ROW_INVALID"
    problem: RowProblem

    @classmethod
    def about(cls, problem: RowProblem) -> Self:
        """The error that carries a problem."""
        return cls(str(problem), problem=problem)


class ProviderMissing(RowError):
    """No installed distribution provides the row, or several do and the row does not choose."""

    code = "PROVIDER_MISSING"


class ProviderIncompatible(RowError):
    """The distribution that provides the row needs another version of a definition or of the kernel; its code was not imported."""

    code = "PROVIDER_INCOMPATIBLE"


class Provider(Value):
    """A plugin that is installed, not imported.

    Attributes:
        distribution: its name.
        version: its version.
        entry: where the plugin is.
        fingerprint: changes when another build is installed.
    """

    distribution: str
    version: str
    entry: EntryPoint
    fingerprint: str = ""

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}"


class Inventory(Value):
    """What is installed, as far as Seam is concerned.

    Attributes:
        distributions: those that take part; one of each name.
        problems: broken, stale or doubled metadata, by path.
    """

    distributions: tuple[Installed, ...]
    problems: tuple[InstalledProblem, ...] = ()

    @classmethod
    def read(cls, path: Sequence[str] | None = None) -> Inventory:
        """Look at `sys.path` (or at `path`) now; nothing is remembered from an earlier look."""
        distributions, problems = read_installed(path)
        return cls(distributions=tuple(distributions), problems=tuple(problems))

    def distribution(self, name: str) -> Installed | None:
        """The installed distribution of a name, however it is spelt."""
        wanted = canonicalize_name(name)
        return next((found for found in self.distributions if found.canonical == wanted), None)

    def providers(self, group: str) -> list[Provider]:
        """Everything that is installed in one entry point group, by name and distribution."""
        found = [
            Provider(distribution=item.name, version=item.version, entry=entry, fingerprint=item.fingerprint)
            for item in self.distributions
            for entry in item.entry_points
            if entry.group == group
        ]
        return sorted(found, key=lambda provider: (provider.entry.name, provider.distribution))

    def groups(self) -> list[str]:
        """Every group of Seam that something is installed in."""
        return sorted({entry.group for item in self.distributions for entry in item.entry_points})

    def keys(self) -> dict[str, Provider]:
        """The service keys that installed definitions own."""
        return {provider.entry.name: provider for provider in self.providers("seam.definition")}

    def resolve(self, row: Row) -> Provider:
        """The provider of a row.

        Raises:
            ProviderMissing: nothing provides it, or several do.
            ProviderIncompatible: it cannot work with what is installed beside it.
        """
        offered = self.providers(row.group)
        named = [provider for provider in offered if provider.entry.name == row.use]
        if row.distribution is not None:
            wanted = canonicalize_name(row.distribution)
            named = [provider for provider in named if canonicalize_name(provider.distribution) == wanted]
        if not named:
            raise ProviderMissing.about(self._missing(row, offered))
        if len(named) > 1:
            raise ProviderMissing.about(_several(row, named))
        (provider,) = named
        needs = self.incompatible(provider.distribution)
        if needs:
            text = f"{provider} cannot be used here: {'; '.join(needs)}"
            remedy = f"pip install --upgrade {provider.distribution}"
            raise ProviderIncompatible.about(row_problem(row, text, remedy, "invalid"))
        return provider

    def incompatible(self, distribution: str) -> list[str]:
        """What a distribution, or a distribution of Seam that it stands on, needs and does not have here."""
        found = self.distribution(distribution)
        return list(self._unmet(found, set())) if found is not None else []

    def _unmet(self, item: Installed, seen: set[str]) -> Iterator[str]:
        seen.add(item.canonical)
        for line in item.requires:
            try:
                needed = Requirement(line)
            except InvalidRequirement:
                yield f"{item.name} has a requirement that cannot be read: {line!r}"
                continue
            if needed.marker is not None and not needed.marker.evaluate({"extra": ""}):
                continue
            below = self.distribution(needed.name)
            if below is None:
                if canonicalize_name(needed.name).startswith(FAMILY):
                    yield f"{item.name} needs {_plain(needed)}, which is not installed"
            elif not needed.specifier.contains(below.version, prereleases=True):
                yield f"{item.name} needs {_plain(needed)}, have {below.version}"
            elif below.canonical not in seen:
                yield from self._unmet(below, seen)

    def _missing(self, row: Row, offered: Sequence[Provider]) -> RowProblem:
        what = _what(row)
        if row.distribution is not None:
            there = self.distribution(row.distribution)
            if there is None:
                broken = [
                    p
                    for p in self.problems
                    if canonicalize_name(row.distribution) in canonicalize_name(p.path)
                ]
                seen = "".join(f" ({problem})" for problem in broken)
                text = f"{what} is not installed{seen}"
                return row_problem(row, text, f"pip install {row.distribution}", "missing")
            remedy = _choices(row, offered) or f"pip install --upgrade {there.name}"
            return row_problem(row, f"{there} does not provide {what}", remedy, "missing")
        keys = self.keys()
        if row.key is not None and row.key not in keys and not offered:
            close = get_close_matches(row.key, list(keys), n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            text = f"nothing installed defines the key {row.key!r} or provides {what}"
            return row_problem(row, text, f"{hint}{_NAME_IT}", "missing")
        close = get_close_matches(row.use, [provider.entry.name for provider in offered], n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        return row_problem(
            row, f"nothing installed provides {what}", f"{hint}{_choices(row, offered)}{_NAME_IT}", "missing"
        )


_NAME_IT = (
    'install the distribution that has it, and name it in the row (distribution = "...") for the next reader'
)


def _what(row: Row) -> str:
    if row.key is None:
        return f"the consumer {row.use!r}"
    return f"the implementer {row.use!r} of {row.key!r}"


def _choices(row: Row, offered: Sequence[Provider]) -> str:
    if not offered:
        return ""
    listed = ", ".join(f"{provider.entry.name} ({provider})" for provider in offered)
    return f"installed for {row.key!r}: {listed}; " if row.key else f"installed consumers: {listed}; "


def _several(row: Row, named: Sequence[Provider]) -> RowProblem:
    listed = " and ".join(str(provider) for provider in named)
    lines = " or ".join(f'distribution = "{provider.distribution}"' for provider in named)
    return row_problem(
        row, f"{_what(row)} is provided by {listed}", f"choose in [{row.table}]: {lines}", "invalid"
    )


def row_problem(
    row: Row, text: str, remedy: str, kind: Literal["missing", "failed", "invalid"]
) -> RowProblem:
    """A problem of a row, with its place in the deployment."""
    return RowProblem(
        row=row.table,
        plugin=row.use,
        key=row.key,
        text=text,
        remedy=remedy.removesuffix("; "),
        kind=kind,
        where=row.where.spot,
    )


def _plain(needed: Requirement) -> str:
    return f"{needed.name}{needed.specifier}"
