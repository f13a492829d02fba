"""The root of every error that Seam raises, and the kernel's own errors."""

from __future__ import annotations

from typing import ClassVar, Literal

Retryable = Literal["yes", "no", "unknown"]


class SeamError(Exception):
    """Root of all errors of Seam.

    Args:
        message: one sentence that says what happened, to which thing, and what to do next.
        facts: what a program may want to read; also available as attributes of the error.

    Attributes:
        code: stable identifier, upper case, never reused for another meaning.
        retryable: whether the same call may succeed when made again.
    """

    code: ClassVar[str] = "SEAM_ERROR"
    retryable: ClassVar[Retryable] = "unknown"

    def __init__(self, message: str, **facts: object) -> None:
        super().__init__(message)
        self.message = message
        self.facts: dict[str, object] = facts

    def __getattr__(self, name: str) -> object:
        facts = self.__dict__.get("facts", {})
        if name in facts:
            return facts[name]
        raise AttributeError(f"{type(self).__name__} carries no fact named {name!r}; it has {sorted(facts)}")


class KernelError(SeamError):
    """Root of the errors of seam-kernel."""

    code = "KERNEL_ERROR"
    retryable = "no"


class InvalidDeclaration(KernelError):
    """A service, plugin or event is declared in a way that cannot work."""

    code = "INVALID_DECLARATION"


class DuplicateProvider(KernelError):
    """Two plugins provide one key in one context. Facts: `key`, `first`, `second`."""

    code = "DUPLICATE_PROVIDER"


class UndeclaredService(KernelError):
    """A plugin reads or provides a key that it did not declare. Facts: `plugin`, `key`."""

    code = "UNDECLARED_SERVICE"


class ServiceUnavailable(KernelError):
    """A declared key has no provider at this moment. Facts: `plugin`, `key`."""

    code = "SERVICE_UNAVAILABLE"
    retryable = "unknown"


class ContextInactive(KernelError):
    """A context is used after its plugin was stopped, or before it was started. Facts: `plugin`."""

    code = "CONTEXT_INACTIVE"


class ContextSealed(KernelError):
    """Something would be added to or taken from a context that is published. Facts: `context`, `plugin`."""

    code = "CONTEXT_SEALED"


class InvalidConfig(KernelError):
    """A plugin's configuration does not validate. Facts: `plugin`, `problems` (list of `(location, text)`)."""

    code = "INVALID_CONFIG"


class PluginFailed(KernelError):
    """A plugin raised in its set-up, its tear-down or one of its tasks. Facts: `plugin`; cause kept."""

    code = "PLUGIN_FAILED"


class MiddlewareSkipped(KernelError):
    """A listener of an `around` event returned without calling `next`. Facts: `event`, `plugin`."""

    code = "MIDDLEWARE_SKIPPED"


class MiddlewareFinished(KernelError):
    """`next` of an `around` event is called after its listener returned. Facts: `event`, `plugin`."""

    code = "MIDDLEWARE_FINISHED"


class DuplicateInstance(KernelError):
    """Two instances in one context have one name. Facts: `context`, `instance`."""

    code = "DUPLICATE_INSTANCE"


class ScopeUnsettled(KernelError):
    """A context is sealed while something in it is starting or stopping. Facts: `context`, `instances`."""

    code = "SCOPE_UNSETTLED"
    retryable = "yes"


class TeardownAbandoned(KernelError):
    """Clean-up took longer than the kernel's grace. Facts: `plugin`, `what`, `seconds`, `ended`.

    `ended` is true when the code ended once it was cancelled, false when it ignored even that and still runs.
    """

    code = "TEARDOWN_ABANDONED"
