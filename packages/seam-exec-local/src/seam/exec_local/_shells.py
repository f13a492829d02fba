"""Shells: how each is started without its start-up files, and how each is given a script that no argument can hold."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass

from seam.kernel import SeamError

SCRIPT_DESCRIPTOR = 9
"""Number under which a shell finds a long script; one digit, since POSIX promises no more in redirections."""


@dataclass(frozen=True)
class Dialect:
    """How one kind of shell is talked to.

    Attributes:
        name: the language's name in `ExecutorFacts.dialect`.
        flags: what keeps it from reading start-up files.
        loader: a command that runs the script behind `SCRIPT_DESCRIPTOR` as if it were the command itself.
    """

    name: str
    flags: tuple[str, ...]
    loader: str

    def argv(self, shell: str, command: str) -> tuple[str, ...]:
        """The arguments that run `command`; `$0` is the shell's name, so its messages do not depend on where it lies."""
        return (shell, *self.flags, "-c", command, posixpath.basename(shell))


# The script is expanded before the redirection closes its descriptor, so what it starts does not inherit that.
_EVAL = f'eval "$(</dev/fd/{SCRIPT_DESCRIPTOR})" {SCRIPT_DESCRIPTOR}<&-'
# POSIX has no $(<file); `.` needs no other program but leaves the descriptor open in what the script starts.
_SOURCE = f". /dev/fd/{SCRIPT_DESCRIPTOR}"

_DIALECTS = {
    "bash": Dialect("bash", ("--noprofile", "--norc"), _EVAL),
    "zsh": Dialect("zsh", ("-f",), _EVAL),
    "ksh": Dialect("ksh", (), _EVAL),
    "sh": Dialect("sh", (), _SOURCE),
    "dash": Dialect("sh", (), _SOURCE),
    "ash": Dialect("sh", (), _SOURCE),
    "busybox": Dialect("sh", ("sh",), _SOURCE),
}

START_UP_VARIABLES = frozenset({"BASH_ENV", "ENV", "ZDOTDIR", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND"})
"""Variables that make a shell read or do something before the command."""


class UnknownShell(SeamError):
    """The configured shell is none that this package can talk to. Facts: `shell`, `known`."""

    code = "UNKNOWN_SHELL"
    retryable = "no"


def dialect_of(shell: str) -> Dialect:
    """Return the dialect of a shell by its name or path.

    Raises:
        UnknownShell: its name is not one of those that are known.
    """
    name = posixpath.basename(shell)
    if name not in _DIALECTS:
        raise UnknownShell(
            f"the shell {shell!r} is not known here; configure one of {', '.join(sorted(_DIALECTS))}",
            shell=shell,
            known=sorted(_DIALECTS),
        )
    return _DIALECTS[name]
