"""Errors of tools and turns. What goes wrong inside a call is an outcome; these are raised around it."""

from __future__ import annotations

from seam.kernel import SeamError


class ToolsError(SeamError):
    """Root of the errors of seam-tools-def."""

    code = "TOOLS_ERROR"
    retryable = "no"


class InvalidTool(ToolsError):
    """A tool is declared in a way that cannot work. Facts: `tool`."""

    code = "INVALID_TOOL"


class NotSerialisable(ToolsError):
    """A value that must be JSON is not. Facts: `place`."""

    code = "NOT_SERIALISABLE"


class CallRefusal(ToolsError):
    """Raised by a tool's `resolve` or `run`, or by what it calls, to refuse for a reason of policy (not a failure).

    Facts: `policy` (who refuses) and `reason`. The chain turns it into a refused outcome, however deep it was raised.
    """

    code = "CALL_REFUSED"

    def __init__(self, policy: str, reason: str, **facts: object) -> None:
        super().__init__(reason, policy=policy, reason=reason, **facts)
        self.policy = policy
        self.reason = reason


class CapabilityUnavailable(ToolsError):
    """Raised by a tool when what it stands on is gone or was never there; becomes an unavailable outcome. Facts: `reason`."""

    code = "CAPABILITY_UNAVAILABLE"
    retryable = "unknown"


class ProjectionRejected(ToolsError):
    """A candidate's tools or skills cannot be offered: names, schemas or providers are wrong. Facts: `problems`."""

    code = "PROJECTION_REJECTED"


class DuplicateRegistration(ToolsError):
    """A service id is registered twice for one owner. Facts: `id`, `owner`."""

    code = "DUPLICATE_REGISTRATION"


class DuplicateCall(ToolsError):
    """A call is made under an id that the turn has used. Facts: `turn`, `call`."""

    code = "DUPLICATE_CALL"


class RegistrationSealed(ToolsError):
    """Something is registered after its generation was published; make a new generation. Facts: `id`."""

    code = "REGISTRATION_SEALED"


class TurnEnded(ToolsError):
    """A turn, or a tool captured from it, is used after the turn's end. Facts: `turn`."""

    code = "TURN_ENDED"


class TurnFailed(ToolsError):
    """The turn cannot go on because its record cannot be kept. Facts: `turn`. Never caught as a tool's error."""

    code = "TURN_FAILED"


class LeaseInvalid(ToolsError):
    """A lease from another runtime, or one that was released. Facts: `generation`."""

    code = "LEASE_INVALID"


class AdmissionClosed(ToolsError):
    """No turn can be opened: nothing is published, or the host is stopping. Facts: `reason`."""

    code = "ADMISSION_CLOSED"
    retryable = "unknown"


class UnknownAgent(ToolsError):
    """The deployment declares no such agent. Facts: `agent`, `known`."""

    code = "UNKNOWN_AGENT"


class JournalError(ToolsError):
    """Root of what a journal raises."""

    code = "JOURNAL_ERROR"


class JournalUnavailable(JournalError):
    """The journal cannot be written now (locked, full, read-only, closed). Facts: `path`, `reason`."""

    code = "JOURNAL_UNAVAILABLE"
    retryable = "unknown"


class JournalCorrupt(JournalError):
    """The journal cannot be read as what it says it is. Facts: `path`, `reason`."""

    code = "JOURNAL_CORRUPT"


class JournalTooNew(JournalError):
    """The journal was written by a newer version. Facts: `path`, `found`, `supported`."""

    code = "JOURNAL_TOO_NEW"


class TurnClosedInJournal(JournalError):
    """An entry is appended after the terminal record of its turn, or by a second writer. Facts: `turn`."""

    code = "TURN_CLOSED"


class ApprovalAlreadyDecided(ToolsError):
    """A second or late answer to one question. Facts: `approval`, `answer` (what was decided, or `cancelled`), `by`."""

    code = "APPROVAL_ALREADY_DECIDED"


class UnknownApproval(ToolsError):
    """An answer to a question that was never asked, or that is long over. Facts: `approval`."""

    code = "UNKNOWN_APPROVAL"
