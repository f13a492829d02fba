"""How a call ended. Five kinds, never an exception for what happened inside the call."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue, TypeAdapter

from seam.kernel import Retryable, Value


class Text(Value):
    """Text for the model."""

    kind: Literal["text"] = "text"
    text: str


class Resource(Value):
    """A file that holds more than the text says, for example the complete output of a command.

    Attributes:
        path: a path of the world.
        media_type: MIME type.
        size: bytes, where known.
        title: what it is, for a person.
    """

    kind: Literal["resource"] = "resource"
    path: str
    media_type: str = "application/octet-stream"
    size: int | None = None
    title: str = ""


class Image(Value):
    """An image, as base64 data."""

    kind: Literal["image"] = "image"
    media_type: str
    data: str


Content = Annotated[Text | Resource | Image, Field(discriminator="kind")]


class Completed(Value):
    """The tool ran to its end.

    Attributes:
        value: the structured result, every fact.
        content: what the model reads.
        success: False when what ran reports no success itself, for example a command with a non-zero exit code.
    """

    kind: Literal["completed"] = "completed"
    value: JsonValue = None
    content: tuple[Content, ...] = ()
    success: bool = True


class Refused(Value):
    """A rule or a person said no; nothing ran (or what ran was refused by the world below: then `value` says how far it came).

    Attributes:
        policy: who refused: `visibility`, `permissions`, `validation`, `approval`, `generation`, the name of a hook, ...
        reason: a sentence that the model can act on.
    """

    kind: Literal["refused"] = "refused"
    policy: str
    reason: str
    value: JsonValue = None
    content: tuple[Content, ...] = ()


class Cancelled(Value):
    """The caller or a deadline ended it. `value` and `content` hold what was there by then.

    Attributes:
        reason: why.
        deadline: whether the call's own deadline ended it.
        abandoned: whether the tool's code would not stop and was left behind.
    """

    kind: Literal["cancelled"] = "cancelled"
    reason: str
    deadline: bool = False
    abandoned: bool = False
    value: JsonValue = None
    content: tuple[Content, ...] = ()


class Failed(Value):
    """The tool could not do its work.

    Attributes:
        code: stable, upper case.
        message: what happened and what to do next.
        retryable: whether the same call may succeed when made again.
    """

    kind: Literal["failed"] = "failed"
    code: str
    message: str
    retryable: Retryable = "unknown"
    value: JsonValue = None
    content: tuple[Content, ...] = ()


class Unavailable(Value):
    """What the tool stands on is not there."""

    kind: Literal["unavailable"] = "unavailable"
    reason: str
    value: JsonValue = None
    content: tuple[Content, ...] = ()


Outcome = Annotated[Completed | Refused | Cancelled | Failed | Unavailable, Field(discriminator="kind")]
outcome_adapter: TypeAdapter[Outcome] = TypeAdapter(Outcome)


def outcome_text(outcome: Outcome) -> str:
    """What a model reads of an outcome: its text content, else one sentence about how it ended."""
    text = "\n".join(item.text for item in outcome.content if isinstance(item, Text))
    headline = _headline(outcome)
    return "\n".join(part for part in (headline, text) if part)


def _headline(outcome: Outcome) -> str:
    match outcome:
        case Completed():
            return ""
        case Refused():
            return f"Refused by {outcome.policy}: {outcome.reason}"
        case Cancelled():
            return f"Cancelled: {outcome.reason}"
        case Failed():
            return f"Failed ({outcome.code}): {outcome.message}"
        case Unavailable():
            return f"Unavailable: {outcome.reason}"
