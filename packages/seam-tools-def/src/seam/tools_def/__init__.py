"""Tools and turns: keys `tools`, `turns`, `integration`, `permissions`, `journal`, and their vocabulary."""

from typing import TYPE_CHECKING

from seam.kernel.lazy import lazy_exports

if TYPE_CHECKING:
    from seam.kernel import Value
    from seam.tools_def._access import Access, Agent, Owner
    from seam.tools_def._actions import Action, Connect, Read, Run, Widen, Write
    from seam.tools_def._approval_desk import ApprovalDesk
    from seam.tools_def._chain import entry_hash, record_adapter, record_of, record_text
    from seam.tools_def._context import CallContext
    from seam.tools_def._descriptor import Descriptor
    from seam.tools_def._diagnostic import Diagnostic
    from seam.tools_def._doors import DoorClosed, door_closed
    from seam.tools_def._effects import (
        UNKNOWN_EFFECTS,
        Concurrency,
        EffectKind,
        Effects,
        PresenceScope,
        RequiresApproval,
        Visibility,
        effects,
    )
    from seam.tools_def._errors import (
        AdmissionClosed,
        ApprovalAlreadyDecided,
        CallRefusal,
        CapabilityUnavailable,
        DuplicateCall,
        DuplicateRegistration,
        InvalidTool,
        JournalCorrupt,
        JournalError,
        JournalTooNew,
        JournalUnavailable,
        LeaseInvalid,
        NotSerialisable,
        ProjectionRejected,
        RegistrationSealed,
        ToolsError,
        TurnClosedInJournal,
        TurnEnded,
        TurnFailed,
        UnknownAgent,
        UnknownApproval,
    )
    from seam.tools_def._frozen import frozen_json, thawed_json
    from seam.tools_def._grant_book import GrantBook
    from seam.tools_def._grants import Grant, Grants
    from seam.tools_def._hooks import CallInfo, SettledCall, after_call, around_call, before_call, settled
    from seam.tools_def._immutable import FrozenDict, FrozenList
    from seam.tools_def._journal import Damage, Entry, Journal, JournalQuery, TurnSummary
    from seam.tools_def._json import canonical_json, check_json, digest_of
    from seam.tools_def._note import PromptNote
    from seam.tools_def._outcome import (
        Cancelled,
        Completed,
        Content,
        Failed,
        Image,
        Outcome,
        Refused,
        Resource,
        Text,
        Unavailable,
        outcome_adapter,
        outcome_text,
    )
    from seam.tools_def._permissions import Decision, Permissions, Verdict
    from seam.tools_def._ports import (
        ApprovalAnswer,
        ApprovalPort,
        ApprovalRequest,
        Approve,
        Deny,
        Edit,
        Expired,
        Question,
        QuestionAnswer,
        QuestionPort,
    )
    from seam.tools_def._records import (
        ApprovalAnswered,
        ApprovalAsked,
        CallDecided,
        CallRequested,
        CallSettled,
        CallStarted,
        Noted,
        Record,
        TurnClosed,
        TurnOpened,
    )
    from seam.tools_def._registry_skills import RegistrySkills
    from seam.tools_def._resolved import Resolution, ResolvedCall
    from seam.tools_def._schema import parameters_schema
    from seam.tools_def._secrets import REDACTED, has_secrets, local_target, redact
    from seam.tools_def._services import (
        GLOBAL,
        Registered,
        SeamIntegration,
        ServiceLife,
        SkillDocument,
        SkillEntry,
        SkillService,
        ToolSchema,
        ToolService,
    )
    from seam.tools_def._tool import TOOL_NAME, JsonLike, Tool, ToolResult, tool
    from seam.tools_def._tools import (
        Answered,
        Catalogue,
        Emitter,
        Lease,
        NoteSource,
        OpenTurn,
        ProjectionProblem,
        ProjectionRequest,
        Tools,
        ToolSource,
        TurnOpening,
    )
    from seam.tools_def._turns import CallItem, Progress, ProgressSink, PublishedTools, Turn, TurnGate
else:  # what a type checker sees above is looked up when it is first used
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "seam.kernel": "Value",
            "_access": "Access Agent Owner",
            "_actions": "Action Connect Read Run Widen Write",
            "_approval_desk": "ApprovalDesk",
            "_chain": "entry_hash record_adapter record_of record_text",
            "_context": "CallContext",
            "_descriptor": "Descriptor",
            "_diagnostic": "Diagnostic",
            "_doors": "DoorClosed door_closed",
            "_effects": (
                "UNKNOWN_EFFECTS Concurrency EffectKind Effects PresenceScope RequiresApproval "
                "Visibility effects "
            ),
            "_errors": (
                "AdmissionClosed ApprovalAlreadyDecided CallRefusal CapabilityUnavailable "
                "DuplicateCall DuplicateRegistration InvalidTool JournalCorrupt JournalError "
                "JournalTooNew JournalUnavailable LeaseInvalid NotSerialisable ProjectionRejected "
                "RegistrationSealed ToolsError TurnClosedInJournal TurnEnded TurnFailed UnknownAgent "
                "UnknownApproval "
            ),
            "_frozen": "frozen_json thawed_json",
            "_grant_book": "GrantBook",
            "_grants": "Grant Grants",
            "_hooks": "CallInfo SettledCall after_call around_call before_call settled",
            "_immutable": "FrozenDict FrozenList",
            "_journal": "Damage Entry Journal JournalQuery TurnSummary",
            "_json": "canonical_json check_json digest_of",
            "_note": "PromptNote",
            "_outcome": (
                "Cancelled Completed Content Failed Image Outcome Refused Resource Text Unavailable "
                "outcome_adapter outcome_text "
            ),
            "_permissions": "Decision Permissions Verdict",
            "_ports": (
                "ApprovalAnswer ApprovalPort ApprovalRequest Approve Deny Edit Expired Question "
                "QuestionAnswer QuestionPort "
            ),
            "_records": (
                "ApprovalAnswered ApprovalAsked CallDecided CallRequested CallSettled CallStarted "
                "Noted Record TurnClosed TurnOpened "
            ),
            "_registry_skills": "RegistrySkills",
            "_resolved": "Resolution ResolvedCall",
            "_schema": "parameters_schema",
            "_secrets": "REDACTED has_secrets local_target redact",
            "_services": (
                "GLOBAL Registered SeamIntegration ServiceLife SkillDocument SkillEntry SkillService "
                "ToolSchema ToolService "
            ),
            "_tool": "TOOL_NAME JsonLike Tool ToolResult tool",
            "_tools": (
                "Answered Catalogue Emitter Lease NoteSource OpenTurn ProjectionProblem "
                "ProjectionRequest Tools ToolSource TurnOpening "
            ),
            "_turns": "CallItem Progress ProgressSink PublishedTools Turn TurnGate",
        },
    )

__all__ = [
    "GLOBAL",
    "REDACTED",
    "TOOL_NAME",
    "UNKNOWN_EFFECTS",
    "Access",
    "Action",
    "AdmissionClosed",
    "Agent",
    "Answered",
    "ApprovalAlreadyDecided",
    "ApprovalAnswer",
    "ApprovalAnswered",
    "ApprovalAsked",
    "ApprovalDesk",
    "ApprovalPort",
    "ApprovalRequest",
    "Approve",
    "CallContext",
    "CallDecided",
    "CallInfo",
    "CallItem",
    "CallRefusal",
    "CallRequested",
    "CallSettled",
    "CallStarted",
    "Cancelled",
    "CapabilityUnavailable",
    "Catalogue",
    "Completed",
    "Concurrency",
    "Connect",
    "Content",
    "Damage",
    "Decision",
    "Deny",
    "Descriptor",
    "Diagnostic",
    "DoorClosed",
    "DuplicateCall",
    "DuplicateRegistration",
    "Edit",
    "EffectKind",
    "Effects",
    "Emitter",
    "Entry",
    "Expired",
    "Failed",
    "FrozenDict",
    "FrozenList",
    "Grant",
    "GrantBook",
    "Grants",
    "Image",
    "InvalidTool",
    "Journal",
    "JournalCorrupt",
    "JournalError",
    "JournalQuery",
    "JournalTooNew",
    "JournalUnavailable",
    "JsonLike",
    "Lease",
    "LeaseInvalid",
    "NotSerialisable",
    "NoteSource",
    "Noted",
    "OpenTurn",
    "Outcome",
    "Owner",
    "Permissions",
    "PresenceScope",
    "Progress",
    "ProgressSink",
    "ProjectionProblem",
    "ProjectionRejected",
    "ProjectionRequest",
    "PromptNote",
    "PublishedTools",
    "Question",
    "QuestionAnswer",
    "QuestionPort",
    "Read",
    "Record",
    "Refused",
    "Registered",
    "RegistrationSealed",
    "RegistrySkills",
    "RequiresApproval",
    "Resolution",
    "ResolvedCall",
    "Resource",
    "Run",
    "SeamIntegration",
    "ServiceLife",
    "SettledCall",
    "SkillDocument",
    "SkillEntry",
    "SkillService",
    "Text",
    "Tool",
    "ToolResult",
    "ToolSchema",
    "ToolService",
    "ToolSource",
    "Tools",
    "ToolsError",
    "Turn",
    "TurnClosed",
    "TurnClosedInJournal",
    "TurnEnded",
    "TurnFailed",
    "TurnGate",
    "TurnOpened",
    "TurnOpening",
    "TurnSummary",
    "Unavailable",
    "UnknownAgent",
    "UnknownApproval",
    "Value",
    "Verdict",
    "Visibility",
    "Widen",
    "Write",
    "after_call",
    "around_call",
    "before_call",
    "canonical_json",
    "check_json",
    "digest_of",
    "door_closed",
    "effects",
    "entry_hash",
    "frozen_json",
    "has_secrets",
    "local_target",
    "outcome_adapter",
    "outcome_text",
    "parameters_schema",
    "record_adapter",
    "record_of",
    "record_text",
    "redact",
    "settled",
    "thawed_json",
    "tool",
]
