"""One shape for every tool, wherever it came from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from pydantic import JsonValue

from seam.tools_def import REDACTED, CallContext, Descriptor, Resolution, ResolvedCall, has_secrets, redact


class InvalidArguments(Exception):
    """The arguments do not fit; the text says where and why, and repeats no value."""


@dataclass(frozen=True, slots=True)
class Validated:
    """Arguments that fit.

    Attributes:
        arguments: complete, as JSON; declared secrets are left out, since they go into digests and before people.
        plan: what the tool runs with where it has no `resolve` of its own.
    """

    arguments: JsonValue
    plan: object


class BoundTool(ABC):
    """A descriptor and the way to run it."""

    def __init__(self, descriptor: Descriptor, provider_deadline: float | None) -> None:
        self.descriptor = descriptor
        self.provider_deadline = provider_deadline
        self._secret_arguments = has_secrets(descriptor.parameters)
        self._secret_output = has_secrets(descriptor.output)
        self.resolves = False
        """Whether it has a `resolve` of its own."""
        self.asks_availability = False
        """Whether it may be out of reach although it is listed."""

    def shown(self, arguments: JsonValue) -> JsonValue:
        """Arguments as they are written down and shown."""
        return redact(arguments, self.descriptor.parameters) if self._secret_arguments else arguments

    def restored(self, edited: JsonValue, given: JsonValue) -> JsonValue:
        """Arguments as a person changed them, who was not shown the secrets: what she left redacted is what was given."""
        return _restored(edited, given) if self._secret_arguments else edited

    def written(self, value: JsonValue) -> JsonValue:
        """A structured result as it is written down."""
        return redact(value, self.descriptor.output) if self._secret_output else value

    @abstractmethod
    def validate(self, arguments: dict[str, JsonValue]) -> Validated:
        """Raises `InvalidArguments`."""

    @abstractmethod
    async def resolve(self, validated: Validated, context: CallContext) -> Resolution:
        """The first step of a tool that has one."""

    @abstractmethod
    async def run(self, resolved: ResolvedCall, context: CallContext) -> object:
        """The second step; whatever the tool returns."""

    @abstractmethod
    def check_value(self, value: JsonValue) -> str | None:
        """What is wrong with a structured result, or None."""

    async def available(self) -> str | None:
        """Why it cannot be called now, or None."""
        return None


def _restored(edited: JsonValue, given: JsonValue) -> JsonValue:
    if edited == REDACTED:
        return given
    if isinstance(edited, dict) and isinstance(given, dict):
        return {key: _restored(item, given.get(key, item)) for key, item in edited.items()}
    if isinstance(edited, list) and isinstance(given, list):
        padded = [*given, *edited[len(given) :]]
        return [_restored(item, before) for item, before in zip(edited, padded, strict=False)]
    return edited
