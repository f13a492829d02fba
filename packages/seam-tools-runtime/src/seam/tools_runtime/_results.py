"""What a tool returned, as a typed outcome: JSON, frozen, bounded as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from pydantic import BaseModel, JsonValue, ValidationError

from seam.kernel import Retryable, SeamError
from seam.tools_def import (
    CallRefusal,
    Cancelled,
    CapabilityUnavailable,
    Completed,
    Content,
    Failed,
    Image,
    NotSerialisable,
    Outcome,
    Refused,
    Resource,
    Text,
    Unavailable,
    canonical_json,
    frozen_json,
    outcome_adapter,
)
from seam.tools_runtime._bound_tool import BoundTool
from seam.tools_runtime._problems import cut

OUTCOMES = frozenset({Completed, Refused, Cancelled, Failed, Unavailable})
"""By type, not by `isinstance`: asking a model for its class costs several times as much, and none of them has subclasses."""
_CONTENT = frozenset({Text, Resource, Image})
_LONGEST_MESSAGE = 4000
"""So many characters of an exception's text are kept in an outcome."""


def outcome_of(result: object, tool: BoundTool, limit: int) -> Outcome:
    """The outcome for what `run` or `execute` returned; never raises for what is wrong with it."""
    try:
        outcome = _typed(result)
        kept = kept_whole(outcome, limit)
    except NotSerialisable as problem:
        return _failed("RESULT_NOT_SERIALISABLE", f"the tool's result cannot be kept: {problem}")
    except ValidationError as invalid:
        place = ".".join(map(str, invalid.errors(include_url=False)[0]["loc"]))
        return _failed(
            "RESULT_INVALID", f"the tool's result is not an outcome: {place} is not what it must be"
        )
    if isinstance(kept, Completed) and (problem := tool.check_value(kept.value)):
        return _failed("RESULT_INVALID", f"the tool's value does not fit its output schema: {problem}", kept)
    return kept


def _typed(result: object) -> Outcome:
    if result is None:
        return Completed.trusted()
    if type(result) in OUTCOMES:
        return cast(Outcome, result)
    if isinstance(result, BaseModel):
        value = result.model_dump(mode="json", by_alias=True)
        return Completed.trusted(value=value, content=(Text.trusted(text=canonical_json(value)),))
    text = result if isinstance(result, str) else canonical_json(result)
    return Completed.trusted(value=result, content=(Text.trusted(text=text),))


def kept_whole(outcome: Outcome, limit: int) -> Outcome:
    """The outcome with its value frozen, or a failed one where it is larger than the bound.

    Raises:
        NotSerialisable: naming the field.
        pydantic.ValidationError: a field has the wrong type (somebody went around the model's checks).
    """
    if type(outcome.content) is not tuple or not all(type(item) in _CONTENT for item in outcome.content):
        outcome = outcome_adapter.validate_python(outcome.model_dump(warnings=False))
    try:
        value = frozen_json(outcome.value)
    except NotSerialisable as problem:
        where = str(problem.facts["place"]).replace("$", "value", 1)
        raise NotSerialisable(str(problem).replace("$", "value", 1), place=where) from None
    outcome = _short(outcome)
    value_size = _size(value)
    content_size = sum(map(_content_size, outcome.content))
    if value_size + content_size > limit:
        return _too_large(outcome, value_size, content_size, limit)
    return outcome if value is outcome.value else outcome.model_copy(update={"value": value})


def _short(outcome: Outcome) -> Outcome:
    if outcome.kind == "completed":
        return outcome
    if outcome.kind == "failed":
        short = cut(outcome.message, _LONGEST_MESSAGE)
        return outcome if short is outcome.message else outcome.model_copy(update={"message": short})
    short = cut(outcome.reason, _LONGEST_MESSAGE)
    return outcome if short is outcome.reason else outcome.model_copy(update={"reason": short})


def _size(value: JsonValue) -> int:
    if value is None or isinstance(value, (bool, int, float)):
        return 8
    return len(value) if isinstance(value, str) and value.isascii() else len(canonical_json(value))


def _content_size(item: Content) -> int:
    match item.kind:
        case "text":
            return _size(item.text)
        case "image":
            return _size(item.data)
        case "resource":
            return _size(item.path) + _size(item.title)


def _too_large(outcome: Outcome, value_size: int, content_size: int, limit: int) -> Outcome:
    field, size = ("value", value_size) if value_size >= content_size else ("content", content_size)
    message = (
        f"the result has {value_size + content_size} bytes, of which `{field}` takes {size}; at most {limit} are "
        "handed on. What the tool did is done. Ask for less, or for a part."
    )
    first = next((item.text for item in outcome.content if isinstance(item, Text)), "")
    kept = (Text(text=cut(first, limit // 8)),) if first else ()
    return Failed(code="RESULT_TOO_LARGE", message=message, retryable="no", content=kept)


def _failed(code: str, message: str, kept: Outcome | None = None) -> Failed:
    content = kept.content if kept is not None else ()
    return Failed(code=code, message=cut(message, _LONGEST_MESSAGE), retryable="no", content=content)


def outcome_of_error(error: BaseException) -> Outcome:
    """The outcome for what a tool raised. A refusal deep inside stays one, also in a group of errors or as a cause."""
    for found in _chain(error):
        if isinstance(found, CallRefusal):
            return Refused(policy=found.policy, reason=found.reason)
    for found in _chain(error):
        if isinstance(found, CapabilityUnavailable):
            return Unavailable(reason=found.message)
    if isinstance(error, SeamError):
        retryable: Retryable = error.retryable
        return Failed(code=error.code, message=cut(error.message, _LONGEST_MESSAGE), retryable=retryable)
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return Failed(code="TOOL_ERROR", message=cut(text, _LONGEST_MESSAGE))


def _chain(error: BaseException) -> Sequence[BaseException]:
    """The error, its causes, and the members of groups, outermost first; each once."""
    found: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop(0)
        if one is None or any(one is seen for seen in found):
            continue
        found.append(one)
        if isinstance(one, BaseExceptionGroup):
            waiting += cast("BaseExceptionGroup[BaseException]", one).exceptions
        waiting += [one.__cause__, None if one.__suppress_context__ else one.__context__]
    return found
