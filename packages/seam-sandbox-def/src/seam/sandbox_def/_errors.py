"""Errors of the sandbox. Nothing ran, or nothing is known to have run, when one is raised."""

from __future__ import annotations

from seam.kernel import SeamError
from seam.sandbox_def._reasons import Finding


class SandboxError(SeamError):
    """Root of the errors of this definition."""

    code = "SANDBOX_ERROR"
    retryable = "no"


class SandboxUnavailable(SandboxError):
    """No runtime can confine here; the command was not run. Facts: `findings` (tuple of `Finding`)."""

    code = "SANDBOX_UNAVAILABLE"

    def __init__(self, findings: tuple[Finding, ...], runtime: str = "sandbox") -> None:
        causes = ". ".join(f"{finding}" for finding in findings)
        super().__init__(
            f"The command was not run: {runtime} cannot confine it here: {causes}.",
            findings=findings,
            runtime=runtime,
        )
        self.findings = findings


class SandboxSetupFailed(SandboxError):
    """The runner started and did not start the command. Facts: `runtime`, `detail`, `findings`."""

    code = "SANDBOX_SETUP_FAILED"
    retryable = "unknown"


class InvalidPolicy(SandboxError):
    """A policy cannot be made of what is configured or asked. Facts: `problems` (tuple of `(place, text)`)."""

    code = "INVALID_POLICY"

    def __init__(self, problems: tuple[tuple[str, str], ...]) -> None:
        text = "; ".join(f"{place}: {problem}" for place, problem in problems)
        super().__init__(f"No sandbox policy can be made: {text}.", problems=problems)


class WideningRefused(SandboxError):
    """The policy forbids the wider mode that is asked for. Facts: `asked`, `current`, `ceiling`."""

    code = "WIDENING_REFUSED"


class ModeForbidden(SandboxError):
    """A session or a model asks for a mode that the deployment forbids. Facts: `asked`, `ceiling`."""

    code = "MODE_FORBIDDEN"


class LinkRefused(SandboxError):
    """A protected or hidden path is a symlink or has another hard link, so it cannot be pinned.
    Facts: `path`, `kind` (`symlink` or `hard-link`), `target`."""

    code = "LINK_REFUSED"


class WorkspaceChanged(SandboxError):
    """A root is not the folder any more that it was when the policy was made. Facts: `path`."""

    code = "WORKSPACE_CHANGED"
    retryable = "yes"
