"""What the allow-list of the network says."""

from __future__ import annotations

import ipaddress
import re
from typing import Annotated

from pydantic import Field, field_validator

from seam.kernel import Decide, Value
from seam.sandbox_def._text import Argument

_LABEL = re.compile(r"[a-z0-9_-]+")

Port = Annotated[int, Field(ge=1, le=65535)]


class AllowedHost(Value):
    """One entry of the allow-list.

    Attributes:
        host: a name (`pypi.org`), a name with one leading wildcard label (`*.pypi.org`), or an address.
        ports: TCP ports, never empty.
        private: whether the name may resolve to a private, loopback or link-local address. Without it such
            an answer is refused after resolution, so that a name cannot be pointed at an inner service.
    """

    host: str
    ports: tuple[Port, ...] = (443,)
    private: bool = False

    @field_validator("host")
    @classmethod
    def _legal(cls, value: str) -> str:
        name = value.rstrip(".").lower()
        labels = name.removeprefix("*.").split(".")
        try:
            return str(ipaddress.ip_address(value))
        except ValueError:
            pass  # not an address: it must be a name
        if not all(0 < len(label) < 64 and _LABEL.fullmatch(label) for label in labels):
            raise ValueError(f"{value!r} is no host name; write example.org, *.example.org or an address")
        return name

    @field_validator("ports")
    @classmethod
    def _some(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if not value:
            raise ValueError("name at least one port")
        return tuple(sorted(set(value)))

    def matches(self, host: str, port: int) -> bool:
        """Whether this entry names `host` (as the client wrote it) and `port`. A wildcard stands for one or
        more labels and never for the bare domain."""
        name = host.rstrip(".").lower()
        if port not in self.ports:
            return False
        if self.host.startswith("*."):
            return name.endswith(self.host[1:]) and len(name) > len(self.host) - 1
        return name == self.host


class NetworkDecision(Value):
    """One decision about one connection that a confined command asked for.

    Attributes:
        confined: the start that asked: `Confined.token`, and `confined` of the facts that a result carries.
        host: as the command wrote it.
        port: TCP port; 0 where the command named none that exists.
        permitted: whether the connection may be made.
        address: what is connected to, when it is permitted; a host with several has a decision for each that is tried.
        rule: the entry of the allow-list that permits it, or why it is refused.
    """

    confined: str
    host: Argument
    port: Annotated[int, Field(ge=0, le=65535)]
    permitted: bool
    address: str | None = None
    rule: str


network_decided: Decide[NetworkDecision, None] = Decide("sandbox.network_decided")
"""Every decision of an allow-list, before it takes effect, also long after the call that started the command. Whoever
keeps a record listens. A listener that raises has not kept it, and nothing is connected: what cannot be recorded is
not permitted."""
