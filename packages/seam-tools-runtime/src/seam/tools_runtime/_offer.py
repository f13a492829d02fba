"""What is offered, checked and bound, before it is dealt out to agents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from seam.tools_def import ProjectionProblem, Registered, SkillEntry, SkillService, ToolService
from seam.tools_runtime._bound_tool import BoundTool


@dataclass(frozen=True)
class BoundSkill:
    """One line of a catalog and who describes it."""

    entry: SkillEntry
    service: SkillService
    owner: str
    source: str


@dataclass
class Offer:
    """One tool of a plugin, or all of a service.

    Attributes:
        owner: `global` or an agent's name.
        service_id: an agent's service replaces the global one with this id, of the same kind, in its place.
        source: for problems.
        origin: `plugin:<row>`; an instance of that row in an agent's realm replaces the global one.
        problems: why it cannot be offered.
        optional: whether it is left out then, instead of rejecting the candidate.
    """

    owner: str
    source: str
    origin: str
    service_id: tuple[type, str] | None = None
    tools: tuple[BoundTool, ...] = ()
    skills: tuple[BoundSkill, ...] = ()
    problems: list[str] = field(default_factory=list[str])
    optional: bool = False

    @property
    def left_out(self) -> bool:
        """Whether it is missing from the catalogue."""
        return self.optional and bool(self.problems)

    def told(self) -> Iterable[ProjectionProblem]:
        """Its problems as data."""
        return (
            ProjectionProblem(source=self.source, problem=problem, optional=self.optional)
            for problem in self.problems
        )

    @classmethod
    def of_service(cls, registered: Registered, optional: frozenset[str]) -> Offer:
        """The empty offer of a service."""
        service = registered.service
        return cls(
            owner=registered.owner,
            source=f"provider:{service.id} ({registered.source})",
            origin=registered.source,
            service_id=service_key(registered),
            optional=service.optional or registered.source in optional,
        )


def service_key(registered: Registered) -> tuple[type, str]:
    """What tells services of one owner apart: the kind and the id."""
    kind = ToolService if isinstance(registered.service, ToolService) else SkillService
    return (kind, registered.service.id)


def for_agent(offers: Iterable[Offer], agent: str, everybody: str, replaced: frozenset[str]) -> list[Offer]:
    """What an agent gets: the global offers and its own.

    Its service takes the place of the global one with the same id; what rows offer that its realm has an instance of is
    replaced by what that instance offers.
    """
    usable = [
        offer
        for offer in offers
        if not offer.left_out
        and (offer.owner == agent or (offer.owner == everybody and offer.origin not in replaced))
    ]
    own = {
        offer.service_id: offer for offer in usable if offer.owner == agent and offer.service_id is not None
    }
    dealt: list[Offer] = []
    for offer in usable:
        if offer.owner == everybody and offer.service_id in own:
            dealt.append(own[offer.service_id])
        elif offer.owner == everybody or offer.service_id is None or not _replaces(offer, usable, everybody):
            dealt.append(offer)
    return dealt


def _replaces(offer: Offer, usable: list[Offer], everybody: str) -> bool:
    return any(other.owner == everybody and other.service_id == offer.service_id for other in usable)
