"""The message that tells the launcher what to do to itself; its format is described in launcher/confine.c."""

from __future__ import annotations

import os
import resource
from collections.abc import Mapping
from types import MappingProxyType

from seam.sandbox_def import LaunchStatus, Limits

_RESOURCES: MappingProxyType[str, int] = MappingProxyType(
    {
        "processes": resource.RLIMIT_NPROC,
        "memory": resource.RLIMIT_AS,
        "file_size": resource.RLIMIT_FSIZE,
        "open_files": resource.RLIMIT_NOFILE,
        "cpu_time": resource.RLIMIT_CPU,
        "core_size": resource.RLIMIT_CORE,
    }
)


class Message:
    """Fields in the order in which the launcher applies them."""

    def __init__(self, *, status: int | None) -> None:
        self._fields: list[bytes] = [b"seam-confine 1"]
        if status is not None:
            self.add("status", str(status))

    def add(self, name: str, value: str = "") -> None:
        """Append one field.

        Raises:
            ValueError: the value holds a NUL byte, which would begin another field.
        """
        if "\0" in value:
            raise ValueError(f"{name} holds a NUL byte, which no program can receive; remove it")
        self._fields.append(os.fsencode(f"{name}={value}"))

    def add_encoded(self, fields: bytes) -> None:
        """Append fields that `Message.fields` of another message gave."""
        self._fields.append(fields)

    @property
    def fields(self) -> bytes:
        """The fields so far, without the first line, for `add_encoded`."""
        return b"\0".join(self._fields[1:])

    def limit(self, limits: Limits, *, without: frozenset[str] = frozenset()) -> None:
        """Append a resource limit for each field that is set and not in `without` (enforced otherwise)."""
        for name, number in _RESOURCES.items():
            value = getattr(limits, name)
            if value is not None and name not in without:
                self.add("limit", f"{number}:{value}")

    def environment(self, env: Mapping[str, str]) -> None:
        """Append the whole environment of the command.

        Raises:
            ValueError: a name is empty or holds `=`; a name or value holds a NUL byte.
        """
        for name, value in env.items():
            if not name or "=" in name:
                raise ValueError(f"{name!r} cannot be the name of a variable; it is empty or holds '='")
            self.add("env", f"{name}={value}")

    def encode(self, program: bytes = b"") -> bytes:
        """The bytes for the launcher, with the seccomp program at the end."""
        text = b"\0".join(self._fields) + b"\0"
        return text + b"filter=%d\0" % len(program) + program if program else text


def read_launcher_status(status: bytes) -> LaunchStatus:
    """What the launcher wrote to its status descriptor; bytes that make no sense mean not started."""
    ready = False
    exit_code: int | None = None
    signal: int | None = None
    survivors: list[tuple[int, str]] = []
    for line in status.decode("utf-8", "replace").split("\n")[:-1]:
        match line.split(" ", 2):
            case ["ready", _]:
                ready = True
            case ["exit", code] if code.isdecimal():
                exit_code = int(code)
            case ["signal", number] if number.isdecimal():
                signal = int(number)
            case ["survivor", pid, name] if pid.isdecimal():
                survivors.append((int(pid), name))
            case ["failed", step, number] if number.isdecimal():
                text = f"{step}: {os.strerror(int(number))}"
                return LaunchStatus(started=False, failure=text, step=step, error=int(number))
            case _:
                return LaunchStatus(started=False, failure="the launcher's status makes no sense")
    if not ready:
        return LaunchStatus(started=False, failure="the launcher ended before it started the command")
    ended = "exited" if exit_code is not None else "signalled" if signal is not None else "unknown"
    return LaunchStatus(
        started=True, exit_code=exit_code, signal=signal, ended=ended, survivors=tuple(survivors)
    )
