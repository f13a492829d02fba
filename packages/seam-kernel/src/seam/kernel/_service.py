"""Services and their keys."""

from __future__ import annotations

import re
from abc import ABC
from typing import ClassVar

from seam.kernel._errors import InvalidDeclaration

_KEY = re.compile(r"[a-z][a-z0-9_]*\Z")


class Service(ABC):
    """An object with identity and lifetime, provided under a key in a context.

    A definition declares its key once, on the abstract class: `class ShellExecutor(Service, key="exec")`.
    Implementations inherit the key; giving another one on the way down is refused.

    Raises:
        InvalidDeclaration: the key is not a lower-case identifier, is given twice, or is missing.
    """

    service_key: ClassVar[str]

    def __init_subclass__(cls, *, key: str | None = None, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        inherited: str | None = getattr(cls, "service_key", None)
        if key is None:
            if inherited is None:
                raise InvalidDeclaration(
                    f"{cls.__qualname__} has no key; write class {cls.__name__}(Service, key='...')",
                    service=cls,
                )
            return
        if inherited is not None:
            raise InvalidDeclaration(
                f"{cls.__qualname__} gives the key {key!r} but inherits {inherited!r}; a service has one key",
                service=cls,
            )
        if not _KEY.match(key):
            raise InvalidDeclaration(
                f"{cls.__qualname__} gives the key {key!r}; a key is a lower-case identifier", service=cls
            )
        cls.service_key = key
