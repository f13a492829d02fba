"""Tools of a service from outside: foreign schemas, foreign values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from jsonschema.exceptions import ValidationError as SchemaViolation
from jsonschema.protocols import Validator
from pydantic import JsonValue

from seam.tools_def import (
    CallContext,
    Descriptor,
    Resolution,
    ResolvedCall,
    ToolService,
    frozen_json,
    thawed_json,
)
from seam.tools_runtime._bound_tool import BoundTool, InvalidArguments, Validated
from seam.tools_runtime._foreign_schema import validator
from seam.tools_runtime._problems import told


class ServiceTool(BoundTool):
    """One tool of a `ToolService`."""

    def __init__(self, service: ToolService, owner: str, descriptor: Descriptor) -> None:
        super().__init__(descriptor, service.deadline)
        self._service = service
        self._owner = owner
        self._arguments = validator(descriptor.parameters)
        self._value = None if descriptor.output is None else validator(descriptor.output)
        kind = type(service)
        self.resolves = kind.resolve is not ToolService.resolve
        self.asks_availability = kind.available is not ToolService.available

    def validate(self, arguments: dict[str, JsonValue]) -> Validated:
        """By the JSON Schema that the service stated in prepare."""
        try:
            problems = told(_violations(self._arguments, arguments))
        except RecursionError:
            raise InvalidArguments("(whole): nested too deeply to be checked against the schema") from None
        if problems:
            raise InvalidArguments(problems)
        plan = frozen_json(arguments)
        return Validated(self.shown(plan), plan)

    async def resolve(self, validated: Validated, context: CallContext) -> Resolution:
        resolution = await self._service.resolve(
            self._owner, self.descriptor.name, cast(JsonValue, validated.plan), context
        )
        # effects are a claim: only a trusted service is believed; a plan cannot be handed to `execute`
        believed = resolution.effects if self._service.trusted else None
        return resolution.model_copy(update={"effects": believed, "plan": None})

    async def run(self, resolved: ResolvedCall, context: CallContext) -> object:
        """With the arguments, as a copy that the service may change."""
        arguments = thawed_json(cast(JsonValue, resolved.plan))
        return await self._service.execute(self._owner, self.descriptor.name, arguments, context)

    def check_value(self, value: JsonValue) -> str | None:
        if self._value is None:
            return None
        return told(_violations(self._value, value)) or None

    async def available(self) -> str | None:
        return await self._service.available()


def _violations(checker: Validator, value: JsonValue) -> Iterator[tuple[str, str]]:
    for error in checker.iter_errors(value):  # pyright: ignore[reportUnknownMemberType] - jsonschema has no types
        yield ".".join(map(str, error.absolute_path)), _sentence(error)


def _sentence(error: SchemaViolation) -> str:
    # the library's own message repeats the value, which may be a secret or huge
    wanted = cast(object, error.validator_value)  # pyright: ignore[reportUnknownMemberType] - as above
    match error.validator:
        case "type":
            return f"must be of type {wanted}"
        case "required":
            return f"lacks a required property; required are {wanted}"
        case "additionalProperties" | "unevaluatedProperties":
            return "has a property that the schema does not know"
        case keyword:
            return f"breaks `{keyword}` of the schema ({wanted!r})"
