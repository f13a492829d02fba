"""Plugins: the unit that is started and stopped."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar, overload

from pydantic import BaseModel, ConfigDict, ValidationError

from seam.kernel._errors import InvalidConfig, InvalidDeclaration
from seam.kernel._service import Service

if TYPE_CHECKING:
    from seam.kernel._context import Context

ConfigT = TypeVar("ConfigT", bound=BaseModel)


class NoConfig(BaseModel):
    """The configuration of a plugin that has none; any option is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True)
class Plugin(Generic[ConfigT]):
    """What a plugin declares, as a value that can be read without starting anything.

    Attributes:
        name: the plugin's name, unless the one who loads it gives the instance another.
        requires: services without which it does not start.
        optional: services that it uses when somebody in its scope provides them.
        provides: services that it may provide; each key has one claimant per scope.
        config: model of its configuration.
        set_up: the async generator function: set up, `yield` once, tear down.
        module: where it is defined.
        doc: its docstring, or an empty text.
    """

    name: str
    requires: tuple[type[Service], ...]
    optional: tuple[type[Service], ...]
    provides: tuple[type[Service], ...]
    config: type[ConfigT]
    set_up: Callable[[Context, ConfigT], AsyncIterator[None]]
    module: str
    doc: str

    def configure(self, given: ConfigT | Mapping[str, object] | None = None) -> ConfigT:
        """Validate a configuration; `None` means the model's defaults.

        Raises:
            InvalidConfig: with every problem as `(location, text)`; values are not repeated.
        """
        if isinstance(given, self.config):
            return given
        try:
            return self.config.model_validate({} if given is None else given)
        except ValidationError as invalid:
            raise invalid_config(self.name, invalid) from None


def invalid_config(plugin: str, invalid: ValidationError) -> InvalidConfig:
    """The kernel's error for what pydantic found; input values are left out, they may be secrets."""
    found = [(".".join(map(str, item["loc"])) or "(whole)", item["msg"]) for item in invalid.errors()]
    text = "; ".join(f"{location}: {message}" for location, message in found)
    return InvalidConfig(
        f"the configuration of plugin {plugin!r} is not valid: {text}", plugin=plugin, problems=found
    )


@overload
def plugin(
    *,
    requires: Sequence[type[Service]] = (),
    optional: Sequence[type[Service]] = (),
    provides: Sequence[type[Service]] = (),
    name: str | None = None,
) -> Callable[[Callable[[Context, NoConfig], AsyncIterator[None]]], Plugin[NoConfig]]: ...


@overload
def plugin(
    *,
    requires: Sequence[type[Service]] = (),
    optional: Sequence[type[Service]] = (),
    provides: Sequence[type[Service]] = (),
    config: type[ConfigT],
    name: str | None = None,
) -> Callable[[Callable[[Context, ConfigT], AsyncIterator[None]]], Plugin[ConfigT]]: ...


def plugin(
    *,
    requires: Sequence[type[Service]] = (),
    optional: Sequence[type[Service]] = (),
    provides: Sequence[type[Service]] = (),
    config: type[BaseModel] = NoConfig,
    name: str | None = None,
) -> object:
    """Turn an async generator function `(ctx, config)` into a `Plugin`.

    The function sets up, yields once, and tears down; all of it runs in one task of its own, so task groups and
    cancel scopes may stay open across the `yield`.

    Raises:
        InvalidDeclaration: not an async generator function, or the lists of services contradict each other.
    """

    def declare(function: Callable[[Context, BaseModel], AsyncIterator[None]]) -> Plugin[BaseModel]:
        where = f"{function.__module__}.{function.__qualname__}"
        if not inspect.isasyncgenfunction(function):
            raise InvalidDeclaration(
                f"plugin {where} is not an async generator function; write 'async def' and 'yield' once in it",
                plugin=where,
            )
        _check_keys(where, [*requires, *optional], "requires")
        _check_keys(where, provides, "provides")
        return Plugin(
            name=name or function.__name__,
            requires=tuple(requires),
            optional=tuple(optional),
            provides=tuple(provides),
            config=config,
            set_up=function,
            module=function.__module__,
            doc=inspect.getdoc(function) or "",
        )

    return declare


def _check_keys(where: str, services: Sequence[type[Service]], what: str) -> None:
    seen: dict[str, type[Service]] = {}
    for service in services:
        key = getattr(service, "service_key", None)
        if key is None:
            raise InvalidDeclaration(
                f"plugin {where} {what} {service!r}, which is not a service; name a subclass of Service with a key",
                plugin=where,
            )
        if key in seen:
            raise InvalidDeclaration(
                f"plugin {where} {what} the key {key!r} twice ({seen[key].__name__}, {service.__name__}); name it once",
                plugin=where,
                key=key,
            )
        seen[key] = service
