"""Tools from typed Python."""

from __future__ import annotations

from pydantic import BaseModel, JsonValue, ValidationError

from seam.tools_def import CallContext, Descriptor, Resolution, ResolvedCall, Tool
from seam.tools_runtime._bound_tool import BoundTool, InvalidArguments, Validated
from seam.tools_runtime._problems import told


class PlainTool(BoundTool):
    """A contributed `Tool`."""

    def __init__(self, tool: Tool, descriptor: Descriptor) -> None:
        super().__init__(descriptor, None)
        self._tool = tool
        self.resolves = tool.resolve is not None
        config = tool.parameters.model_config
        self._open = config.get("extra") == "allow"
        self._names = frozenset(
            name
            for field, info in tool.parameters.model_fields.items()
            for name in (field, info.alias, info.validation_alias)
            if isinstance(name, str)
        )

    def validate(self, arguments: dict[str, JsonValue]) -> Validated:
        """By the parameter model. Unknown fields are refused also where the model would ignore them."""
        unknown = [] if self._open else [name for name in arguments if name not in self._names]
        if unknown:
            raise InvalidArguments(told((name, "there is no such parameter") for name in unknown))
        try:
            model = self._tool.parameters.model_validate(arguments)
        except ValidationError as invalid:
            raise InvalidArguments(
                told(
                    (".".join(map(str, item["loc"])), item["msg"])
                    for item in invalid.errors(include_url=False)
                )
            ) from None
        return Validated(self.shown(model.model_dump(mode="json", by_alias=True)), model)

    async def resolve(self, validated: Validated, context: CallContext) -> Resolution:
        assert self._tool.resolve is not None  # `resolves` says so
        return await self._tool.resolve(validated.plan, context)

    async def run(self, resolved: ResolvedCall, context: CallContext) -> object:
        return await self._tool.run(resolved, context)

    def check_value(self, value: JsonValue) -> str | None:
        output: type[BaseModel] | None = self._tool.output
        if output is None:
            return None
        try:
            output.model_validate(value)
        except ValidationError as invalid:
            return told(
                (".".join(map(str, item["loc"])), item["msg"]) for item in invalid.errors(include_url=False)
            )
        return None
