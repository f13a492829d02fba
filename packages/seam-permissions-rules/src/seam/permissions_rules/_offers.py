"""Rules that a person may grant, in the words that she is shown, and what they cover.

A granted rule is one or more clauses, joined by `; `:
`run git status *`, `write /w/docs/**`, `read /w/**`, `connect example.org:443`, `every call`.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Sequence

from pydantic import ValidationError

from seam.permissions_rules._config import Rule
from seam.permissions_rules._judge import does_nothing
from seam.permissions_rules._named_rule import NamedRule
from seam.permissions_rules._parts import CommandPart, ConnectPart, Part, PathPart
from seam.permissions_rules._words import program_name
from seam.permissions_rules._wrappers import SHELLS, WRAPPERS

EVERY_CALL = "every call"
_SUBCOMMAND = re.compile(r"[a-z][a-z0-9-]*\Z")
_CLAUSE = re.compile(r"(run|read|write|connect) (.+)\Z", re.DOTALL)
_BETWEEN = re.compile(r"; (?=(?:run|read|write|connect) )")
# What these do depends on all of their words; a person can grant the one call instead.
_NEVER = SHELLS | frozenset(WRAPPERS) | frozenset(
    {
        "rm", "rmdir", "mv", "dd", "chmod", "chown", "kill", "killall", "pkill", "shred", "truncate", "tee", "mkfs", "mount",
        "python", "python3", "perl", "ruby", "node", "php", "lua", "awk", "sed", "eval", "source", ".", "trap", "find", "ssh",
        "su", "curl", "wget", "parallel", "watch", "make", "docker", "podman", "kubectl",
    }
)  # fmt: skip


def offers(parts: Sequence[Part]) -> tuple[str, ...]:
    """The rule that would cover this call and calls like it; none where it is not understood, or where a wide rule is not safe."""
    needed = [part for part in parts if part.needed and not does_nothing(part)]
    if not parts:
        return (EVERY_CALL,)
    clauses = [_clause(part) for part in needed]
    known = [clause for clause in clauses if clause is not None]
    if not known or len(known) < len(clauses):
        return ()
    return ("; ".join(dict.fromkeys(known)),)


def _clause(part: Part) -> str | None:
    match part:
        case CommandPart():
            return _run(part)
        case PathPart(kind=kind, path=str() as path):
            folder = posixpath.dirname(path)
            return None if folder in ("", "/") or re.search(r"[*?;]", path) else f"{kind} {folder}/**"
        case ConnectPart(host=str() as host, port=port):
            return (
                None
                if re.search(r"[\s*?;\[]", host)
                else f"connect {host}" + (f":{port}" if port is not None else "")
            )
        case _:
            return None


def _run(part: CommandPart) -> str | None:
    program = part.words[0].text
    if (
        program is None
        or part.outer is not None
        or program_name(part.words[0]) in _NEVER
        or re.search(r"[\s*?\[]", program)
    ):
        return None
    words = [program]
    second = part.words[1].text if len(part.words) > 1 else None
    if second is not None and _SUBCOMMAND.match(second):
        words.append(second)
    return f"run {shlex.join(words)} *"


def granted(rule: str) -> NamedRule | None:
    """A granted rule as one to compare with; None for a text that is none."""
    if rule == EVERY_CALL:
        return NamedRule(rule, Rule(verdict="allow"))
    conditions: dict[str, list[str]] = {}
    for clause in _BETWEEN.split(rule):
        found = _CLAUSE.match(clause)
        if found is None:
            return None
        word, pattern = found.groups()
        conditions.setdefault("command" if word == "run" else word, []).append(pattern)
    try:
        return NamedRule(rule, Rule.model_validate({"verdict": "allow", **conditions}))
    except ValidationError:
        return None


def covers(rule: NamedRule, parts: Sequence[Part], workspace: str) -> bool:
    """Whether a granted rule covers every part that needs it; never where something is not understood."""
    if rule.rule.whole:
        return not parts
    needed = [part for part in parts if part.needed and not does_nothing(part)]
    return bool(needed) and all(rule.covers(part, workspace) for part in needed)
