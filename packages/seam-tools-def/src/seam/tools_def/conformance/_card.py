"""The behaviour card: what an implementer keeps, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar, cast

from seam.kernel import Value
from seam.tools_def.conformance._check import Check

SubjectT = TypeVar("SubjectT")


class CheckResult(Value):
    """What one check found. `missing` names what the implementer lacks, where the check was left out for that."""

    name: str
    about: str
    result: Literal["kept", "broken", "left out"]
    finding: str = ""
    missing: tuple[str, ...] = ()


class BehaviourCard(Value):
    """One implementer against one kit.

    Attributes:
        kit: which contract.
        implementer: its name.
        facts: what it says of itself.
        results: one for each check of the kit.
    """

    kit: str
    implementer: str
    facts: Mapping[str, str]
    results: tuple[CheckResult, ...]

    @property
    def conforms(self) -> bool:
        """Whether nothing is broken; what is left out is named, not counted."""
        return all(result.result != "broken" for result in self.results)


def leaves(error: BaseException) -> list[BaseException]:
    """What went wrong, out of the groups that task groups wrap it in."""
    if isinstance(error, BaseExceptionGroup):
        members = cast("BaseExceptionGroup[BaseException]", error).exceptions
        return [leaf for member in members for leaf in leaves(member)]
    return [error]


async def examine(
    kit: str,
    implementer: str,
    subject: SubjectT,
    checks: Sequence[Check[SubjectT]],
    *,
    lacks: frozenset[str] = frozenset(),
    facts: Mapping[str, str] | None = None,
) -> BehaviourCard:
    """Run every check, one after the other, and write the card; needs no pytest."""
    results: list[CheckResult] = []
    for check in checks:
        missing = tuple(sorted(check.needs & lacks))
        if missing:
            results.append(
                CheckResult(name=check.name, about=check.about, result="left out", missing=missing)
            )
            continue
        try:
            await check.run(subject)
        except Exception as broken:  # whatever an implementer raises is a finding about it
            finding = "; ".join(f"{type(one).__name__}: {one}" for one in leaves(broken))
            results.append(CheckResult(name=check.name, about=check.about, result="broken", finding=finding))
        else:
            results.append(CheckResult(name=check.name, about=check.about, result="kept"))
    return BehaviourCard(kit=kit, implementer=implementer, facts=facts or {}, results=tuple(results))
