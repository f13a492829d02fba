"""From an errno and a stage to the error that names the culprit."""

from __future__ import annotations

import errno
import os
import resource
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from seam.subprocess_def import (
    ArgumentListTooLong,
    BadWorkingDirectory,
    ExecutableNotFound,
    InvalidDescriptor,
    InvalidEnvironment,
    NotExecutable,
    NotSupported,
    NulInArgument,
    OutOfMemory,
    SpawnFailed,
    SubprocessError,
    TooManyDescriptors,
    TooManyProcesses,
)
from seam.subprocess_local._wire import Stage

STRING_BYTES = 32 * resource.getpagesize() - 1
"""MAX_ARG_STRLEN of Linux without the closing NUL: 32 pages, 131071 bytes where a page has 4096 (execve(2))."""


@dataclass(slots=True)
class Command:
    """What was to be started, for the error's text."""

    argv: Sequence[str]
    executable: str
    cwd: str
    env: Mapping[str, str]


def failure(command: Command, stage: int, number: int) -> SubprocessError:
    """The error for an errno that a start failed with at a stage."""
    argv0 = command.argv[0]
    if number in (errno.EMFILE, errno.ENFILE):
        return too_many_descriptors(number)
    if number == errno.E2BIG:
        return too_long(command)
    if stage == Stage.DIRECTORY:
        return bad_directory(command.cwd, number)
    if stage == Stage.EXECUTE and number not in (errno.ENOMEM, errno.EAGAIN):
        return _not_executed(command, number)
    if number == errno.EAGAIN:
        return TooManyProcesses(
            f"the system refused another process for {argv0!r}; end some, or raise the limit (ulimit -u)",
            argv0=argv0,
        )
    if number == errno.ENOMEM:
        return OutOfMemory(
            f"the system has no memory to start {argv0!r}; free some and try again", argv0=argv0
        )
    if stage == Stage.DESCRIPTORS:
        return InvalidDescriptor(
            f"a descriptor of the spec cannot be handed over: {os.strerror(number)}; check its number",
            descriptor=None,
            reason=_symbol(number),
        )
    if stage == Stage.CGROUP:
        return NotSupported(
            f"no cgroup can be used ({os.strerror(number)}); set cgroup = 'off', or delegate one",
            capability="cgroup",
        )
    return SpawnFailed(
        f"{argv0!r} could not be started: {os.strerror(number)} ({_symbol(number)}); nothing was run",
        errno=_symbol(number),
        argv0=argv0,
    )


def _symbol(number: int) -> str:
    return errno.errorcode.get(number, str(number))


def too_many_descriptors(number: int) -> TooManyDescriptors:
    """EMFILE or ENFILE, wherever it came from."""
    if number == errno.ENFILE:
        return TooManyDescriptors(
            "the system has too many open files (ENFILE); close some, or raise fs.file-max",
            scope="system",
            limit=None,
        )
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return TooManyDescriptors(
        f"too many open files in this process, its limit is {limit} (EMFILE); close some, or raise it (ulimit -n)",
        scope="process",
        limit=limit,
    )


def too_long(command: Command) -> ArgumentListTooLong:
    """Which string, or that all of them together, exceed what execve(2) takes."""
    for index, argument in enumerate(command.argv):
        size = len(os.fsencode(argument))
        if size > STRING_BYTES:
            return ArgumentListTooLong(
                f"argument {index} has {size} bytes, one argument may have {STRING_BYTES}; pass it through stdin or a file",
                kind="argument",
                index=index,
                size=size,
                limit=STRING_BYTES,
            )
    for name, value in command.env.items():
        size = len(os.fsencode(name)) + 1 + len(os.fsencode(value))
        if size > STRING_BYTES:
            return ArgumentListTooLong(
                f"environment variable {name} has {size} bytes with its name, one may have {STRING_BYTES}; "
                "pass the value through a file",
                kind="environment",
                name=name,
                size=size,
                limit=STRING_BYTES,
            )
    size = total_size(command)
    limit = total_limit()
    return ArgumentListTooLong(
        f"arguments and environment have {size} bytes together, the limit is {limit}; pass some through stdin or files",
        kind="total",
        size=size,
        limit=limit,
    )


def total_size(command: Command) -> int:
    """Bytes as execve(2) counts them: strings with their NULs, and a pointer for each."""
    strings = [os.fsencode(text) for text in command.argv]
    strings += [os.fsencode(f"{name}={value}") for name, value in command.env.items()]
    return sum(len(text) + 1 + 8 for text in strings)


def total_limit() -> int:
    """A quarter of the stack limit, at most 6 MiB (execve(2))."""
    soft = resource.getrlimit(resource.RLIMIT_STACK)[0]
    most = 6 * 1024 * 1024
    return most if soft == resource.RLIM_INFINITY else min(most, soft // 4)


def bad_directory(cwd: str, number: int) -> BadWorkingDirectory:
    """Why a working directory cannot be entered."""
    reasons = {
        errno.ENOENT: ("missing", "does not exist"),
        errno.ENOTDIR: ("not_a_directory", "is not a directory"),
        errno.EACCES: ("permission", "may not be entered by this user"),
        errno.ENAMETOOLONG: ("too_long", "is too long a path"),
    }
    reason, text = reasons.get(number, ("other", f"cannot be entered: {os.strerror(number)}"))
    return BadWorkingDirectory(
        f"the working directory {cwd!r} {text}; nothing was run, choose another one", cwd=cwd, reason=reason
    )


def _not_executed(command: Command, number: int) -> SpawnFailed:
    argv0, path = command.argv[0], command.executable
    absolute = path if path.startswith("/") else os.path.join(command.cwd, path)  # noqa: PTH118 - may be odd text
    try:
        mode = os.stat(absolute).st_mode  # noqa: PTH116
    except OSError:
        return ExecutableNotFound(
            f"there is no program {path!r}; check the path or install it", argv0=argv0, searched=()
        )
    if stat.S_ISDIR(mode):
        reason, text = "is_a_directory", "is a directory"
    elif number == errno.ENOENT:
        reason, text = (
            "missing_interpreter",
            "names an interpreter (first line, or loader) that does not exist",
        )
    elif number in (errno.EACCES, errno.EPERM):
        reason, text = "permission", "may not be executed by this user (mode, owner, or a noexec file system)"
    elif number == errno.ENOEXEC:
        reason, text = (
            "bad_format",
            "is neither a binary of this machine nor a script with a first line '#!...'",
        )
    else:
        return SpawnFailed(
            f"{path!r} could not be executed: {os.strerror(number)} ({_symbol(number)}); nothing was run",
            errno=_symbol(number),
            argv0=argv0,
        )
    return NotExecutable(f"{path!r} {text}; nothing was run", argv0=argv0, path=path, reason=reason)


def malformed(command: Command) -> SubprocessError:
    """The error for text that no system call takes: NUL bytes, bad environment names, surrogates."""
    for index, argument in enumerate(command.argv):
        if "\0" in argument:
            return NulInArgument(
                f"argument {index} contains a NUL byte, which no program can receive; remove it",
                kind="argument",
                index=index,
            )
    for name, value in command.env.items():
        if "\0" in name or "\0" in value:
            shown = name.replace("\0", "\\0")
            return NulInArgument(
                f"environment variable {shown} contains a NUL byte; remove it", kind="environment", name=name
            )
        if not name or "=" in name:
            return InvalidEnvironment(
                f"{name!r} cannot be the name of an environment variable; a name is not empty and has no '='",
                name=name,
            )
    for kind, text in (("cwd", command.cwd), ("path", command.executable)):
        if "\0" in text:
            return NulInArgument(f"the {kind} {text!r} contains a NUL byte; remove it", kind=kind)
    return SpawnFailed(
        f"{command.argv[0]!r} cannot be started: some text cannot be encoded as {os.fsencode.__name__} does",
        errno="EILSEQ",
        argv0=command.argv[0],
    )
