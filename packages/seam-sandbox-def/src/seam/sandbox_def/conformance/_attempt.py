"""One attempt to break out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Check = Literal["said", "leaked", "made", "changed", "heard", "reached", "signalled", "touched", "outlived"]
"""How an attempt is seen to have worked, from outside of the sandbox wherever that is possible.

`said`: it says so itself. `leaked`: a secret is in its output. `made`: `outside/new` exists. `changed`: a file that is
not its own has other contents, another place or none. `heard`: a listener outside received its word. `reached`:
somebody outside could connect to it. `signalled`: a process outside received a signal. `touched`: a process outside
has other limits, priority or affinity. `outlived`: a process of its own is alive after the end.
"""


@dataclass(frozen=True)
class Attempt:
    """A small Python program that tries one way out.

    Attributes:
        name: unique, in words.
        kind: what is reached if it works; several attempts may try the same kind in different ways.
        code: body of the program, after `PRELUDE`.
        check: see `Check`.
        gap: name of the gap that a runtime must state for the attempt to be allowed to work.
    """

    name: str
    kind: str
    code: str
    check: Check
    gap: str = ""

    def program(self) -> str:
        """The whole program."""
        return PRELUDE + self.code


def arguments(interpreter: str, attempt: Attempt, facts: Mapping[str, object]) -> tuple[str, ...]:
    """The argv that tries `attempt` with what it may know about the arena."""
    return (interpreter, "-I", "-S", "-c", attempt.program(), json.dumps(facts))


SAID = "BROKE-OUT"
"""What a program prints when it has seen itself that it broke out."""

TRIED = "TRYING"
"""What every program prints when it comes to the attempt itself; without it the attempt says nothing."""

PRELUDE = f"""
import ctypes, errno, fcntl, json, mmap, os, platform, resource, signal, socket, stat, struct, subprocess, sys, time
A = json.loads(sys.argv[1])
O, W, H, V, N = A['outside'], A['ws'], A['home'], A['victim'], A['word']
T = os.environ.get('TMPDIR', '/tmp')
L = ctypes.CDLL(None, use_errno=True)
X = platform.machine() == 'x86_64'
def sc(x86, arm, *args):
    got = L.syscall(x86 if X else arm, *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    if got < 0:
        raise OSError(ctypes.get_errno(), 'syscall')
    return got
def out():
    print({SAID!r}, flush=True)
def put(path, text='x', mode='w'):
    with open(path, mode) as f:
        f.write(text)
def mk(name):
    path = os.path.join(T, name)
    put(path)
    return path
print({TRIED!r}, flush=True)
"""
