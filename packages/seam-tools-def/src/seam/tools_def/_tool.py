"""Tools from typed Python: a name, a parameter model, and two steps."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, cast, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from seam.tools_def._context import CallContext
from seam.tools_def._descriptor import Descriptor
from seam.tools_def._effects import UNKNOWN_EFFECTS, Concurrency, Effects, RequiresApproval, Visibility
from seam.tools_def._errors import InvalidTool
from seam.tools_def._outcome import Completed
from seam.tools_def._resolved import Resolution, ResolvedCall
from seam.tools_def._schema import parameters_schema

TOOL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}\Z")
"""A legal name of a tool or skill: what every model vendor and the MCP accept."""

JsonLike = str | int | float | bool | Sequence[object] | Mapping[str, object] | None
"""JSON as a tool's author writes it; what is inside is checked when it is returned."""

ToolResult = Completed | BaseModel | JsonLike
"""What `run` may return: an outcome, a model (its dump is the value, its text the content), or plain JSON."""

RunStep = Callable[[ResolvedCall, CallContext], Awaitable[ToolResult]]


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool that a plugin contributes: `ctx.contribute(Tool(...))`.

    `resolve` has no effect outside and says what would happen; without one, the tool resolves to its arguments.
    `run` does it; `resolved.plan` is what `resolve` put there, else the validated parameter model.

    Raises:
        InvalidTool: the name is not legal or the description is blank.
    """

    name: str
    description: str
    parameters: type[BaseModel]
    run: RunStep
    resolve: Callable[..., Awaitable[Resolution]] | None = None
    output: type[BaseModel] | None = None
    effects: Effects = UNKNOWN_EFFECTS
    requires_approval: RequiresApproval = "on-risk"
    visibility: Visibility = field(default_factory=Visibility)
    concurrency: Concurrency = "exclusive"
    deadline: float | None = None
    notes: tuple[str, ...] = ()
    source: str | None = None

    def __post_init__(self) -> None:
        if not TOOL_NAME.match(self.name):
            raise InvalidTool(
                f"{self.name!r} is not a legal tool name; it starts with a letter, then letters, digits, _ or -, 64 at most",
                tool=self.name,
            )
        parameters = cast(object, self.parameters)
        if not (isinstance(parameters, type) and issubclass(parameters, BaseModel)):
            raise InvalidTool(
                f"tool {self.name!r}: its parameters are {parameters!r}, not a pydantic model class",
                tool=self.name,
            )
        if self.deadline is not None and not 0 < self.deadline < math.inf:
            raise InvalidTool(
                f"tool {self.name!r}: its deadline is {self.deadline}; it is a number of seconds above 0",
                tool=self.name,
            )
        if not self.description.strip():
            raise InvalidTool(f"tool {self.name!r} has no description; a model chooses by it", tool=self.name)

    def describe(self, source: str) -> Descriptor:
        """The descriptor; `source` is used where the tool does not state its own."""
        return Descriptor(
            name=self.name,
            description=self.description,
            parameters=parameters_schema(self.parameters),
            output=parameters_schema(self.output, mode="serialization") if self.output is not None else None,
            effects=self.effects,
            requires_approval=self.requires_approval,
            visibility=self.visibility,
            concurrency=self.concurrency,
            deadline=self.deadline,
            notes=self.notes,
            source=self.source or source,
        )


def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    effects: Effects = UNKNOWN_EFFECTS,
    requires_approval: RequiresApproval = "on-risk",
    visibility: Visibility | None = None,
    concurrency: Concurrency = "exclusive",
    deadline: float | None = None,
    notes: tuple[str, ...] = (),
) -> Callable[[Callable[..., Awaitable[ToolResult]]], Tool]:
    """Make a tool of a typed `async def`: parameters become the schema, the docstring the description.

    A parameter annotated `CallContext` receives the call's context and is not part of the schema.

    Raises:
        InvalidTool: a parameter has no annotation, takes `*args`, or the function is not async.
    """

    def make(function: Callable[..., Awaitable[ToolResult]]) -> Tool:
        tool_name = name or function.__name__
        model, context_name, names = _parameter_model(tool_name, function)
        parameters = tuple(
            (field_name, names.get(field_name, field_name)) for field_name in model.model_fields
        )

        async def run(resolved: ResolvedCall, context: CallContext) -> ToolResult:
            given = resolved.plan.__dict__  # of the parameter model
            values = {parameter: given[field_name] for field_name, parameter in parameters}
            if context_name is not None:
                values[context_name] = context
            return await function(**values)

        return Tool(
            name=tool_name,
            description=description or inspect.getdoc(function) or "",
            parameters=model,
            run=run,
            effects=effects,
            requires_approval=requires_approval,
            visibility=visibility or Visibility(),
            concurrency=concurrency,
            deadline=deadline,
            notes=notes,
        )

    return make


def _parameter_model(
    name: str, function: Callable[..., object]
) -> tuple[type[BaseModel], str | None, Mapping[str, str]]:
    """The model, the name of the parameter for the context, and the parameters' names where a field has another."""
    if not inspect.iscoroutinefunction(function):
        raise InvalidTool(f"tool {name!r} is not an async function; write `async def {name}(...)`", tool=name)
    try:
        hints: Mapping[str, object] = get_type_hints(function, include_extras=True)
    except NameError as unknown:
        raise InvalidTool(
            f"tool {name!r}: the type {unknown.name!r} of a parameter is not known in its module; import it there",
            tool=name,
        ) from unknown
    fields: dict[str, tuple[object, object]] = {}
    names: dict[str, str] = {}
    context_name: str | None = None
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise InvalidTool(f"tool {name!r}: {parameter} cannot be a named argument", tool=name)
        if parameter.name not in hints:
            raise InvalidTool(
                f"tool {name!r}: parameter {parameter.name!r} has no type annotation", tool=name
            )
        hint = hints[parameter.name]
        if hint is CallContext:
            context_name = parameter.name
            continue
        field_name = parameter.name
        if hasattr(BaseModel, field_name) or field_name.startswith("_"):
            # `json`, `copy`, `_x`: legal for a function and not for a model
            field_name = f"parameter_{len(fields)}"
            names[field_name] = parameter.name
            hint = Annotated[hint, Field(alias=parameter.name)]
        fields[field_name] = (hint, ... if parameter.default is parameter.empty else parameter.default)
    model = create_model(  # pyright: ignore[reportCallIssue, reportUnknownVariableType] - field definitions are dynamic
        "".join(part.capitalize() for part in re.split(r"[_-]", name)) + "Parameters",
        __config__=ConfigDict(extra="forbid", frozen=True, protected_namespaces=()),
        **fields,  # pyright: ignore[reportArgumentType]
    )
    return cast("type[BaseModel]", model), context_name, names
