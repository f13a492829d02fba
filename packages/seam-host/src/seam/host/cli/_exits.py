"""What the exit code of `seam` means. One table for all commands; the help prints it, scripts rely on it."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes. 128 + n means that signal n ended the command: 130 for Ctrl-C, 143 for a termination."""

    DONE = 0
    ERROR = 1
    USAGE = 2
    DEPLOYMENT = 3
    INCOMPLETE = 4
    FINDINGS = 5
    UNSUCCESSFUL = 10
    REFUSED = 11
    CANCELLED = 12
    FAILED = 13
    UNAVAILABLE = 14
    LEFT_BEHIND = 20


MEANING: dict[Exit, str] = {
    Exit.DONE: "done",
    Exit.ERROR: "an error that is none of these; the message says which",
    Exit.USAGE: "the command line is wrong",
    Exit.DEPLOYMENT: "the deployment file cannot be read; nothing was started",
    Exit.INCOMPLETE: "a row of the deployment is pending, missing, failed or invalid; nothing was published",
    Exit.FINDINGS: "something was checked, and is not in order",
    Exit.UNSUCCESSFUL: "the call completed, and what it ran reports no success",
    Exit.REFUSED: "the call was refused by a policy or by a person",
    Exit.CANCELLED: "the call was cancelled, or its deadline passed",
    Exit.FAILED: "the tool could not do its work",
    Exit.UNAVAILABLE: "what the tool stands on is not there",
    Exit.LEFT_BEHIND: "stopping left something behind, or had errors; the message lists them",
}

EPILOG = "\b\nExit codes:\n" + "\n".join(
    [
        *(f"{code.value:>4}  {text}" for code, text in MEANING.items()),
        " 130  ended by Ctrl-C; what it had started is ended too",
        " 143  ended by a termination signal; likewise",
    ]
)
