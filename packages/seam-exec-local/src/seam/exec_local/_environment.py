"""The environment of a command: an allow-list of the world's own, the preset, the deployment's, the request's."""

from __future__ import annotations

from collections.abc import Mapping

from seam.exec_def import (
    Environment,
    EnvironmentTooLarge,
    InvalidEnvironment,
    SecretRef,
    Secrets,
    Setting,
    UnknownSecret,
    Variables,
)
from seam.exec_local._config import LocalExecConfig
from seam.exec_local._shells import START_UP_VARIABLES
from seam.subprocess_def import SpawnLimits


def inherited(world: Mapping[str, str], allowed: tuple[str, ...]) -> dict[str, str]:
    """Take what the allow-list names: names, or beginnings that end in `*`. Start-up variables never pass."""
    exact = {name for name in allowed if not name.endswith("*")}
    beginnings = tuple(name[:-1] for name in allowed if name.endswith("*"))
    return {
        name: value
        for name, value in world.items()
        if (name in exact or (beginnings and name.startswith(beginnings))) and name not in START_UP_VARIABLES
    }


class Environments:
    """Decides environments. What a request without wishes gets is made once."""

    def __init__(
        self, config: LocalExecConfig, world: Mapping[str, str], limits: SpawnLimits, secrets: Secrets | None
    ) -> None:
        self._limits = limits
        self._secrets = secrets
        given: dict[str, Setting | None] = {
            **inherited(world, config.inherit),
            **config.preset,
            **config.environment,
        }
        self._common = self._checked(given)
        self._common_size = size_of(self._common)

    def decide(self, wish: Environment | None) -> tuple[Variables, int]:
        """Return the whole environment, and the bytes that it takes at a start.

        Raises:
            InvalidEnvironment: a name or value that cannot be, or one that would run something before the command.
            EnvironmentTooLarge: one variable is longer than the system takes.
            UnknownSecret: a secret that nobody knows.
        """
        if wish is None:
            return self._common, self._common_size
        given = wish.variables if wish.mode == "replace" else {**self._common, **wish.variables}
        environment = self._checked(given)
        return environment, size_of(environment)

    def _checked(self, given: Mapping[str, Setting | None]) -> Variables:
        kept = {name: value for name, value in given.items() if value is not None}
        for name, value in kept.items():
            _check_name(name)
            if isinstance(value, SecretRef):
                self._check_secret(name, value)
            else:
                self._check_value(name, value)
        return Variables(kept)

    def _check_value(self, name: str, value: str) -> None:
        if "\0" in value:
            raise InvalidEnvironment(
                f"the variable {name} has a NUL byte in its value, which no environment can hold; take it out",
                variable=name,
                reason="NUL in value",
            )
        size = _length(name) + 1 + _length(value)
        if size > self._limits.string_bytes:
            raise EnvironmentTooLarge(
                f"the environment variable {name} has {size} bytes with its name, and the system takes "
                f"{self._limits.string_bytes}; pass long data on standard input or in a file",
                variable=name,
                size=size,
                limit=self._limits.string_bytes,
            )

    def _check_secret(self, name: str, reference: SecretRef) -> None:
        if self._secrets is None:
            raise UnknownSecret(
                f"{name} asks for the secret {reference.secret!r}, and this deployment has no [implement.secrets] row",
                secret=reference.secret,
            )
        if not self._secrets.knows(reference):
            raise UnknownSecret(
                f"{name} asks for the secret {reference.secret!r}, which has no source in [implement.secrets.sources]",
                secret=reference.secret,
            )


def size_of(environment: Variables) -> int:
    """Bytes that an environment takes in execve(2): each entry with its NUL and a pointer of 8 bytes."""
    return sum(_length(name) + _length(value) + 10 for name, value in environment.texts.items())


def largest(environment: Variables) -> str:
    """The variable with the longest value; an empty text where there is none."""
    return max(((len(value), name) for name, value in environment.texts.items()), default=(0, ""))[1]


def _length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogateescape"))


def _check_name(name: str) -> None:
    if not name or "=" in name or "\0" in name:
        raise InvalidEnvironment(
            f"{name!r} is no name for an environment variable; names are not empty and have no '=' and no NUL",
            variable=name,
            reason="name",
        )
    if name in START_UP_VARIABLES or name.startswith("BASH_FUNC_"):
        raise InvalidEnvironment(
            f"the variable {name} would make the shell run something before the command; put that into the command itself",
            variable=name,
            reason="start-up",
        )
