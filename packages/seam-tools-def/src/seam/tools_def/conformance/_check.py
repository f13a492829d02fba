"""One check of a kit: a name, what it proves, and how."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

SubjectT = TypeVar("SubjectT")
SubjectT_contra = TypeVar("SubjectT_contra", contravariant=True)


class ConformanceFailure(AssertionError):
    """The implementer does not keep the contract; the text says what was expected and what was found."""


def expect(condition: bool, sentence: str) -> None:
    """Fail with a sentence unless the condition holds. (`assert` would vanish under `python -O`.)"""
    if not condition:
        raise ConformanceFailure(sentence)


@dataclass(frozen=True)
class Check(Generic[SubjectT]):
    """One check.

    Attributes:
        name: unique in its kit.
        about: the sentence of the contract that it proves.
        needs: what an implementer must not lack for it to make sense.
        run: raises `ConformanceFailure` where the contract is broken.
    """

    name: str
    about: str
    needs: frozenset[str]
    run: Callable[[SubjectT], Awaitable[None]]


def check_named(checks: Sequence[Check[SubjectT]], name: str) -> Check[SubjectT]:
    """The check with a name.

    Raises:
        KeyError: there is none.
    """
    for check in checks:
        if check.name == name:
            return check
    raise KeyError(name)


@dataclass(frozen=True)
class CheckList(Generic[SubjectT]):
    """Collects the checks of one module, in the order they are written."""

    checks: list[Check[SubjectT]]

    def __call__(
        self, about: str, *, needs: Sequence[str] = ()
    ) -> Callable[[Callable[[SubjectT], Awaitable[None]]], Callable[[SubjectT], Awaitable[None]]]:
        """Declare the decorated function as a check; its name is the check's."""

        def declare(run: Callable[[SubjectT], Awaitable[None]]) -> Callable[[SubjectT], Awaitable[None]]:
            name = getattr(run, "__name__", repr(run))
            self.checks.append(Check(name, about, frozenset(needs), run))
            return run

        return declare
