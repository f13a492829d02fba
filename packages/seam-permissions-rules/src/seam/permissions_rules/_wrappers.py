"""Programs that run other programs, and where the inner command begins."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from seam.permissions_rules._words import Word, program_name

SHELLS = frozenset({"bash", "sh", "dash", "ksh", "ash", "zsh", "mksh", "rbash"})
"""Programs that take shell text."""
SILENT = frozenset({"echo", "printf", "true", "false", ":"})
"""Builtins that never run their arguments."""
STATE = frozenset(
    {
        "read", "mapfile", "readarray", "getopts", "let", "hash", "alias", "unalias", "enable", "bind", "complete", "shopt",
        "local", "fc", "history", "wait",
    }
)  # fmt: skip
"""Builtins that set variables, or what a name means: `hash -p /tmp/x git`."""

IN_ITS_OWN_WAY = frozenset(
    {"parallel", "watch", "ssh", "su", "runuser", "script", "flock", "entr", "nsenter", "systemd-run"}
)
"""Programs that run other programs in ways that are not followed here."""


@dataclass(frozen=True)
class Wrapper:
    """How to find the inner command.

    Attributes:
        flags: options without a value.
        values: options with one.
        operands: words of its own before the inner command.
        assignments: whether `NAME=value` words may come first.
        adds: whether it gives the inner command more than the caller has (another user, another root): then an allow has to
            name the wrapper too.
    """

    flags: frozenset[str] = frozenset()
    values: frozenset[str] = frozenset()
    operands: int = 0
    assignments: bool = False
    adds: bool = False


def _wrapper(
    flags: str = "", values: str = "", *, operands: int = 0, assignments: bool = False, adds: bool = False
) -> Wrapper:
    return Wrapper(frozenset(flags.split()), frozenset(values.split()), operands, assignments, adds)


WRAPPERS: Mapping[str, Wrapper] = {
    "env": _wrapper(
        "-i - --ignore-environment -0 --null -v --debug", "-u --unset -C --chdir", assignments=True
    ),
    "time": _wrapper("-p -v --verbose -a --append -q --quiet", "-f --format -o --output"),
    "nice": _wrapper("", "-n --adjustment"),
    "ionice": _wrapper("-t --ignore", "-c --class -n --classdata"),
    "timeout": _wrapper(
        "--foreground --preserve-status -v --verbose", "-k --kill-after -s --signal", operands=1
    ),
    "nohup": _wrapper(),
    "setsid": _wrapper("-c --ctty -f --fork -w --wait"),
    "stdbuf": _wrapper("", "-i --input -o --output -e --error"),
    "command": _wrapper("-p"),
    "builtin": _wrapper(),
    "exec": _wrapper("-c -l", "-a"),
    "coproc": _wrapper(),
    "noglob": _wrapper(),
    "nocorrect": _wrapper(),
    "xargs": _wrapper(
        "-0 --null -r --no-run-if-empty -t --verbose -p --interactive -x --exit",
        "-a --arg-file -d --delimiter -E -I --replace -L --max-lines -n --max-args -P --max-procs -s --max-chars",
    ),
    "busybox": _wrapper(),
    "toybox": _wrapper(),
    "taskset": _wrapper("-a --all-tasks", "", operands=1),
    "chrt": _wrapper("-b -f -i -o -r", "", operands=1),
    "caffeinate": _wrapper("-d -i -m -s -u", "-t -w"),
    "strace": _wrapper("-f -ff -q -c -tt -t", "-e -o -s", adds=True),
    "ltrace": _wrapper("-f -c", "-e -o -s", adds=True),
    "chroot": _wrapper("", "--userspec --groups", operands=1, adds=True),
    "sudo": _wrapper(
        "-n --non-interactive -E --preserve-env -H --set-home -S --stdin -k -b",
        "-u --user -g --group -C -p --prompt -h --host -T -r -t -D --chdir",
        assignments=True,
        adds=True,
    ),
    "doas": _wrapper("-n -s", "-u -C", adds=True),
    "unshare": _wrapper(
        "-r -m -n -p -f -u -i -U -C --map-root-user --mount --net --pid --fork", "", adds=True
    ),
    "fakeroot": _wrapper("--", "", adds=True),
}

_SHELL_OPTIONS = re.compile(r"-[eux]*c[eux]*\Z")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=", re.DOTALL)


@dataclass(frozen=True)
class Inner:
    """The words from `offset` on are a command."""

    offset: int
    end: int
    adds: bool
    sets: tuple[str, ...] = ()
    more: bool = False
    """Whether words are added that are not known here."""


@dataclass(frozen=True)
class InnerText:
    """A shell text that will be run."""

    text: str
    adds: bool


@dataclass(frozen=True)
class Opaque:
    """It runs something that cannot be known from its words.

    Attributes:
        spellable: whether its words name it (a file), so that a pattern that spells them out means it.
    """

    why: str
    spellable: bool = True


Unwrapped = Inner | InnerText | Opaque


def unwrap(words: tuple[Word, ...]) -> tuple[Unwrapped, ...]:
    """What a command runs besides itself; empty for one that runs nothing else as far as is known."""
    name = program_name(words[0])
    if name is None or (len(words) == 1 and name not in SHELLS and name not in STATE):
        return ()
    if name in WRAPPERS:
        return _inner(name, WRAPPERS[name], words)
    if name in SHELLS:
        return (_shell(name, words),)
    match name:
        case "eval":
            return (_text(words[1:], "eval runs text that only the run decides", adds=False),)
        case "source" | ".":
            return (Opaque(f"`{name}` runs what is written in a file"),)
        case "trap":
            if any(word.text in ("-", "", "-p", "-l") for word in words[1:2]):
                return ()
            return (_text(words[1:2], "trap runs text that only the run decides", adds=False),)
        case "find" | "fd":
            return _find(words)
        case _ if name in IN_ITS_OWN_WAY:
            return (Opaque(f"`{name}` runs what its words say, in its own way"),)
        case _ if name in STATE:
            return (Opaque(f"`{name}` changes what later commands are", spellable=False),)
        case "printf" | "test" | "[" if any(
            word.text is None or word.text.startswith("-v") for word in words[1:2]
        ):
            return (Opaque(f"`{name} -v` sets or evaluates a variable", spellable=False),)
        case _:
            return ()


def _inner(name: str, wrapper: Wrapper, words: tuple[Word, ...]) -> tuple[Unwrapped, ...]:
    place = 1
    while place < len(words):
        text = words[place].text
        if text is None:
            return (
                Opaque(f"a word of `{name}` is not known before it runs, and it decides what `{name}` runs"),
            )
        if text == "--":
            place += 1
            break
        if not text.startswith("-") or (text == "-" and "-" not in wrapper.flags):
            break
        step = _option(name, wrapper, text)
        if step == 0:
            return (
                ()
                if name == "command" and text in ("-v", "-V")
                else (Opaque(f"the option {text} of `{name}`"),)
            )
        place += step
    sets: list[str] = []
    while wrapper.assignments and place < len(words) and _ASSIGNMENT.match(words[place].source):
        sets.append(words[place].source)
        place += 1
    place += wrapper.operands
    if place >= len(words):
        return ()
    return (Inner(place, len(words), wrapper.adds, tuple(sets), more=name == "xargs"),)


def _option(name: str, wrapper: Wrapper, text: str) -> int:
    """How many words an option takes; 0 for one that is not known."""
    if text in wrapper.flags:
        return 1
    if text in wrapper.values:
        return 2
    if text.startswith("--"):
        return 1 if text.partition("=")[0] in wrapper.values and "=" in text else 0
    if text[:2] in wrapper.values or (name == "nice" and text[1:].isdigit()):
        return 1  # its value is in the same word
    return 0


def _shell(name: str, words: tuple[Word, ...]) -> Unwrapped:
    if len(words) == 2 and words[1].text == "--version":
        return Opaque(f"`{name} --version`")
    for place, word in enumerate(words[1:], 1):
        if word.text is None:
            return Opaque(f"a word of `{name}` is not known before it runs")
        if _SHELL_OPTIONS.match(word.text):
            if place + 1 == len(words):
                return Opaque(f"`{name} {word.text}` without a text")
            return _text(
                words[place + 1 : place + 2],
                f"`{name} {word.text}` runs text that only the run decides",
                adds=False,
            )
        if not re.fullmatch(r"-[eux]+", word.text):
            return Opaque(f"`{name}` runs what is written in a file, or has options that change what it runs")
    return Opaque(f"`{name}` runs what it reads from its standard input", spellable=False)


def _text(words: tuple[Word, ...], why: str, *, adds: bool) -> Unwrapped:
    texts = [word.text for word in words]
    known = [text for text in texts if text is not None]
    if len(known) < len(texts):
        return Opaque(why, spellable=False)
    return InnerText(" ".join(known), adds)


def _find(words: tuple[Word, ...]) -> tuple[Unwrapped, ...]:
    found: list[Unwrapped] = []
    place = 1
    while place < len(words):
        if words[place].text in ("-exec", "-execdir", "-ok", "-okdir", "-x", "--exec", "-X", "--exec-batch"):
            end = place + 1
            while end < len(words) and words[end].text not in (";", "+"):
                end += 1
            if end > place + 1:
                found.append(Inner(place + 1, end, adds=True))
            place = end
        elif words[place].text is None and program_name(words[0]) == "find":
            found.append(Opaque("a word of `find` is not known before it runs, and may be -exec or -delete"))
        place += 1
    return tuple(found)
