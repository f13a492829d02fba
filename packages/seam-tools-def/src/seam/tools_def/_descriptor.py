"""The immutable description of a tool, whatever it came from."""

from __future__ import annotations

from functools import cached_property

from pydantic import JsonValue

from seam.kernel import Value
from seam.tools_def._effects import Concurrency, Deadline, Effects, RequiresApproval, Visibility
from seam.tools_def._json import digest_of


class Descriptor(Value):
    """What a model and the chain know of a tool. Made once, in prepare.

    Attributes:
        name: unique for every agent, `[A-Za-z][A-Za-z0-9_-]{0,63}`.
        description: for the model.
        parameters: JSON Schema (2020-12) of an object.
        output: JSON Schema of the structured value, or None.
        effects: what it can do; unknown for a foreign tool that its row does not trust.
        requires_approval: `on-risk` unless declared.
        visibility: who sees and may call it.
        concurrency: whether it runs beside others of a batch.
        deadline: seconds that a call may take at most; None means the provider's or the runtime's.
        notes: for the prompt.
        source: where it came from: `plugin:<row>`, `provider:<id>`, `file:<path>`.
    """

    name: str
    description: str
    parameters: JsonValue
    output: JsonValue = None
    effects: Effects
    requires_approval: RequiresApproval = "on-risk"
    visibility: Visibility = Visibility()
    concurrency: Concurrency = "exclusive"
    deadline: Deadline | None = None
    notes: tuple[str, ...] = ()
    source: str

    @cached_property
    def digest(self) -> str:
        """Digest over every field; a grant is void when it changes."""
        return digest_of(self.model_dump(mode="json"))

    def model_schema(self) -> dict[str, JsonValue]:
        """What a model sees, in one neutral form: name, description, parameters."""
        return {"name": self.name, "description": self.description, "parameters": self.parameters}
