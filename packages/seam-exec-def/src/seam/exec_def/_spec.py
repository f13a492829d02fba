"""A command with everything decided: what `run` and `start` take."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from typing import Literal

from seam.exec_def._confinement import Isolation
from seam.exec_def._ending import SurvivorPolicy
from seam.exec_def._output import OutputWindow, StreamMode
from seam.exec_def._variables import VariablesField
from seam.kernel import Value

ScriptDelivery = Literal["argument", "descriptor"]
"""How the command's text reaches the shell: as an argument in `argv`, or through a descriptor that `argv`
reads."""


class Limits(Value):
    """Every bound of a command, in seconds. `timeout` and what follows from it bind foreground commands
    only."""

    timeout: float
    """After this the command is ended."""
    asked_timeout: float | None = None
    """What the request said, where that was more than the executor's maximum; otherwise `None`."""
    idle_timeout: float | None = None
    grace: float
    """Between the polite signal and SIGKILL."""
    drain: float
    """How long output is still read after the command itself is over."""

    @property
    def return_by(self) -> float:
        """By when the result is there whatever the command does: timeout + grace + drain."""
        return self.timeout + self.grace + self.drain


class ExecSpec(Value):
    """Inert, frozen, serialisable: the same spec means the same execution.

    Random folders and descriptor numbers belong to the start and are not here.
    """

    executor: str
    """Mechanism of the executor that resolved it, for instance `local`. Another one refuses it."""
    executor_version: str
    dialect: str
    command: str
    argv: tuple[str, ...]
    """What is run, before any wrapping. The first is the absolute path of the shell."""
    delivery: ScriptDelivery = "argument"
    workdir: str
    """Absolute path of the world."""
    environment: VariablesField
    """All of it. Secrets are references; their values exist in the child only."""
    stdin: bytes | None = None
    streams: StreamMode
    limits: Limits
    survivors: SurvivorPolicy
    isolation: Isolation
    output: OutputWindow

    @cached_property
    def canonical(self) -> str:
        """The canonical form: JSON with sorted keys, no spaces, ASCII only; everything but the output
        window."""
        return json.dumps(
            self.model_dump(mode="python", exclude={"output"}),
            sort_keys=True,
            separators=(",", ":"),
            ensure_ascii=True,
            default=_plain,
        )

    @cached_property
    def digest(self) -> str:
        """`sha256:` and the hexadecimal digest of the canonical form."""
        return f"sha256:{hashlib.sha256(self.canonical.encode('ascii')).hexdigest()}"


def _plain(value: object) -> object:
    # the one type of a spec's fields that JSON has no form for
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    raise TypeError(f"a spec holds no {type(value).__name__}")
