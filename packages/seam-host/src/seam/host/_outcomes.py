"""How operations on the host end: reload, prepare, stop."""

from __future__ import annotations

from typing import Literal

from seam.kernel import SeamError, Value


class RowProblem(Value):
    """Why a candidate cannot be published, or what was left out of it.

    Attributes:
        row: the table of the deployment, for example `implement.exec` or `agents.reviewer.implement.sandbox_policy`.
        plugin: the plugin, where one was found.
        key: the service key that it is about, where there is one.
        text: what is wrong.
        remedy: what to do, for example the `pip install` line.
        kind: `missing` (nothing provides it), `failed` (it raised), `rejected` (its offers cannot be projected), `invalid`.
        where: file and line of the row, where they are known.
    """

    row: str
    plugin: str | None = None
    key: str | None = None
    text: str
    remedy: str = ""
    kind: Literal["missing", "failed", "rejected", "invalid"] = "invalid"
    where: str = ""

    def __str__(self) -> str:
        place = f" ({self.where})" if self.where else ""
        return f"{self.row}{place}: {self.text}" + (f"\n    {self.remedy}" if self.remedy else "")


class ReloadOutcome(Value):
    """What became of one reload.

    Attributes:
        kind: `published`; `unchanged` (number kept, nobody told); `refused` (the old generation runs on);
            `restart` (the change needs a new process; nothing else was done).
        generation: the published number afterwards.
        changed: files or rows that changed, as far as known.
        rebuilt, carried, removed: rows.
        left_out: optional rows that are missing, with the reason.
        problems: why it was refused or needs a restart.
        seconds: how long it took.
    """

    kind: Literal["published", "unchanged", "refused", "restart"]
    generation: int
    changed: tuple[str, ...] = ()
    rebuilt: tuple[str, ...] = ()
    carried: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    left_out: tuple[RowProblem, ...] = ()
    problems: tuple[str, ...] = ()
    seconds: float = 0.0


class StopReport(Value):
    """What stopping found.

    Attributes:
        errors: every error on the way, each a sentence.
        abandoned: code that would not stop and was left behind; a command then exits non-zero.
        ended_turns: turns that outlived the budget and were ended.
    """

    errors: tuple[str, ...] = ()
    abandoned: tuple[str, ...] = ()
    ended_turns: int = 0


class HostError(SeamError):
    """Root of the errors of seam-host's running half."""

    code = "HOST_ERROR"
    retryable = "no"


class PrepareFailed(HostError):
    """A candidate cannot be published; the published generation, if any, is untouched. Facts: `problems` (RowProblem)."""

    code = "PREPARE_FAILED"
    problems: tuple[RowProblem, ...]


class RollbackFailed(HostError):
    """A candidate could not be unwound; admission is closed. Facts: `faults` (sentences); the reason to unwind is the cause."""

    code = "ROLLBACK_FAILED"
    faults: tuple[str, ...]


class HostStopped(HostError):
    """An operation is asked of a host that is stopping or stopped."""

    code = "HOST_STOPPED"
