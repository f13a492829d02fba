"""What a caller says about a command's environment, and how secrets are named in it."""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import Field

from seam.kernel import FrozenMapping, Value

EnvironmentMode = Literal["overlay", "replace"]
"""`overlay`: on top of what the executor gives every command. `replace`: nothing but what is listed."""


class SecretRef(Value):
    """The name of a secret. Specs, digests, journals and error texts hold this; a value exists in the child
    only."""

    secret: str = Field(min_length=1)
    """Name under which the deployment configures a source for it."""


Setting = Annotated[str | SecretRef, Field(union_mode="left_to_right")]
"""What a variable is set to. A string may hold any character except NUL."""


class Environment(Value):
    """What a request says about the environment of its command."""

    mode: EnvironmentMode = "overlay"
    variables: FrozenMapping[str, Setting | None] = MappingProxyType({})
    """Variables by name. `None` takes a variable out of what an overlay stands on."""
