"""What a deployment says about its sandbox."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from seam.sandbox_def import AllowedHost, Limits, Mode, Network, is_wider


def _host(value: object) -> object:
    if not isinstance(value, str):
        return value
    name, _, port = value.rpartition(":")
    return (
        {"host": name, "ports": [int(port)]}
        if name and port.isdecimal() and "]" not in port
        else {"host": value}
    )


class PolicyConfig(BaseModel):
    """Configuration of the row `implement.sandbox_policy`.

    Paths may start with `~` (the home of the user who runs the host) or be relative (to the workspace of the
    call); both are expanded exactly once.

    Attributes:
        mode: mode of a call when no grant and no session says otherwise.
        ceiling: widest mode that a grant or an approved widening can reach.
        session_ceiling: widest mode a session may choose by itself; `None`: `mode`.
        network: network mode of every confined call.
        allow: hosts for `network = "allow-list"`, as `"host"`, `"host:port"` or a table (see `AllowedHost`).
        writable: roots beside the workspace that `workspace-write` may write.
        readable: paths that are opened for reading again below a hidden one.
        protected: paths that stay read-only below a writable root.
        hidden: paths that may not be read.
        unprotected: default protected paths to leave out, as the report prints them.
        unhidden: default hidden paths to leave out, as the report prints them.
        protect_missing: also protect default paths that do not exist yet. Each costs a mount point that is
            visible in the workspace while a command runs.
        limits: see `Limits`.
        partial: whether a runtime that enforces only a part of the policy may run commands.
        forbidden_gaps: gap codes that must be absent even if `partial`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    mode: Mode = "workspace-write"
    ceiling: Mode = "full-access"
    session_ceiling: Mode | None = None
    network: Network = "none"
    allow: tuple[Annotated[AllowedHost, BeforeValidator(_host)], ...] = ()
    writable: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    unprotected: tuple[str, ...] = ()
    unhidden: tuple[str, ...] = ()
    protect_missing: bool = True
    limits: Limits = Limits()
    partial: bool = False
    forbidden_gaps: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> PolicyConfig:
        if is_wider(self.mode, than=self.ceiling):
            raise ValueError(f"mode {self.mode!r} is wider than ceiling {self.ceiling!r}; raise the ceiling")
        if self.session_ceiling is not None and is_wider(self.session_ceiling, than=self.ceiling):
            raise ValueError(
                f"session_ceiling {self.session_ceiling!r} is wider than ceiling {self.ceiling!r}"
            )
        if self.network == "allow-list" and not self.allow:
            raise ValueError(
                "network is 'allow-list' and allow is empty; list hosts, or set network = 'none'"
            )
        if self.network != "allow-list" and self.allow:
            raise ValueError(f"allow lists hosts but network is {self.network!r}; set network = 'allow-list'")
        return self


_LISTS = ("writable", "readable", "protected", "hidden")


def absolute_only(config: PolicyConfig) -> PolicyConfig:
    """The configuration without the entries that mean something only from a workspace on."""
    lists: dict[str, tuple[str, ...]] = {name: getattr(config, name) for name in _LISTS}
    kept = {name: tuple(p for p in paths if p.startswith(("/", "~"))) for name, paths in lists.items()}
    return config.model_copy(update=kept)
