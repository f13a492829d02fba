"""Refusals by the sandbox, found in what a command said and checked against its policy.

Text alone proves nothing: `echo "permission denied"; exit 1` is a failure of the command's own. A line becomes a
denial only when it names a target and the policy, asked about exactly that, refuses.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from seam.sandbox_def import Denial, Operation, Policy

_MOST = 20
"""Denials told of one command; more say nothing new."""

_LINE_LIMIT = 1000
_REFUSED = re.compile(
    r"Permission denied|Read-only file system|Operation not permitted|Device or resource busy"
    r"|EACCES|EROFS|EPERM|EBUSY|Invalid cross-device link"
)
_READ_ONLY = re.compile(r"Read-only file system|EROFS|Device or resource busy|EBUSY")
_CHANGES = re.compile(
    r"cannot (touch|create|remove|move|overwrite|make|rename|unlink|truncate|open .* for writing)|for writing"
    r"|cannot chang|(changing|setting|preserving) (permissions|times|owner)|\b(mkdir|unlink|rename|rmdir|truncate)\b"
)
_QUOTED = re.compile(r"'([^']+)'|\"([^\"]+)\"|‘([^’]+)’")
_BARE = re.compile(r"(?:^|[\s:])((?:\.{0,2}/)?[^\s:'\"]*/[^\s:'\"]+|[\w.+-]+\.[\w]+)(?=:|\s|,|$)")
_SHELL = re.compile(r"^[\w./-]*sh: (?:line \d+: )?(?P<path>.+?): (?P<what>[A-Z][\w -]+)$")
_HOST = re.compile(
    r"(?:Could not resolve host: |unable to resolve host address [‘'`]|getaddrinfo \w+ |resolve host(?:name)? "
    r"|failed to lookup address information: |Failed to connect to )(?P<host>[\w.-]+)(?: port (?P<port>\d+))?"
)
_NO_NETWORK = re.compile(
    r"Network is unreachable|Temporary failure in name resolution|Name or service not known|ENETUNREACH|EAI_AGAIN"
)


@dataclass(frozen=True)
class _Sign:
    """What one line says."""

    target: str
    changes: bool | None
    line: str


def find_denials(policy: Policy, output: bytes, workdir: str) -> tuple[Denial, ...]:
    """Refusals that the end of a command's output speaks of.

    Args:
        policy: of the call.
        output: what was written to standard error, or to the merged stream.
        workdir: where relative paths start, as far as is known: the command may have gone elsewhere.
    """
    found: dict[tuple[str, str], Denial] = {}
    for raw in output.splitlines():
        line = raw[:_LINE_LIMIT].decode("utf-8", "surrogateescape")
        for denial in (*_of_files(policy, line, workdir), *_of_network(policy, line)):
            known = found.get((denial.operation, denial.target))
            if known is None or known.certainty == "suspected":
                found[denial.operation, denial.target] = denial
        if len(found) >= _MOST:
            break
    return tuple(found.values())


def _of_files(policy: Policy, line: str, workdir: str) -> list[Denial]:
    if not _REFUSED.search(line):
        return []
    judged = (_judge(policy, sign, workdir) for sign in _signs(line))
    return [denial for denial in judged if denial is not None]


def _signs(line: str) -> list[_Sign]:
    shell = _SHELL.match(line)
    if shell is not None:
        return [_Sign(shell["path"], True if _READ_ONLY.search(line) else None, line)]
    quoted = [match[match.lastindex or 0] for match in _QUOTED.finditer(line)]
    names = quoted or [match[1] for match in _BARE.finditer(line)]
    changes = True if _READ_ONLY.search(line) or _CHANGES.search(line) else None
    return [_Sign(name, changes, line) for name in names if "\0" not in name]


def _judge(policy: Policy, sign: _Sign, workdir: str) -> Denial | None:
    """Ask the policy about a target; `None` where it permits what was tried, or the system itself forbids it."""
    path = os.path.realpath(os.path.join(workdir, sign.target))  # noqa: PTH118 - names of any bytes
    ruling = policy.ruling(path)
    if ruling.access == "write":
        return None
    if ruling.access == "none":
        operation: Operation = "write" if sign.changes else "read"
        permitted = os.path.lexists(path) and os.access(path, os.R_OK)
    else:
        if sign.changes is None and not _could_write(path):
            return None
        operation, permitted = "write", _could_write(path)
    if not permitted:
        return None  # the command would have failed without a sandbox as well
    certain = sign.target.startswith("/") and (sign.changes is not None or ruling.access == "none")
    return Denial(
        operation=operation,
        target=path,
        rule=ruling.rule,
        certainty="confirmed" if certain else "suspected",
        evidence=f"stderr: {sign.line.strip()}",
    )


def _could_write(path: str) -> bool:
    """Whether the caller itself, unconfined, could write at `path`: the file, or the nearest folder that exists."""
    current = path
    while not os.path.lexists(current):
        current = current.rpartition("/")[0] or "/"
    return os.access(current, os.W_OK)


def _of_network(policy: Policy, line: str) -> list[Denial]:
    if policy.network == "full":
        return []
    host = _HOST.search(line)
    if host is None and not _NO_NETWORK.search(line):
        return []
    target = "network" if host is None else f"{host['host']}:{host['port']}" if host["port"] else host["host"]
    return [
        Denial(
            operation="connect",
            target=target,
            rule=f"network {policy.network}",
            certainty="suspected",
            evidence=f"stderr: {line.strip()}",
        )
    ]
