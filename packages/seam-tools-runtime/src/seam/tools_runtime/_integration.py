"""Registration of services from outside, as contributions of the plugin that registers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import anyio

from seam.kernel import Context, ContextSealed, NoConfig, plugin
from seam.tools_def import (
    DuplicateRegistration,
    InvalidTool,
    Registered,
    RegistrationSealed,
    SeamIntegration,
    ServiceLife,
    SkillService,
    ToolService,
)


class OwnedLife(ServiceLife):
    """Start and stop of one service, in one task of the registering plugin."""

    def __init__(self, service: ToolService | SkillService) -> None:
        self._service = service
        self._wanted = anyio.Event()
        self._over = anyio.Event()
        self._started = anyio.Event()
        self._failure: Exception | None = None

    async def start(self) -> None:
        self._wanted.set()
        await self._started.wait()
        if self._failure is not None:
            raise self._failure

    def end(self) -> None:
        """Let the task stop the service and end."""
        self._over.set()
        self._wanted.set()

    async def live(self) -> None:
        """The task: waits to be wanted, starts, waits for the end, stops."""
        # One scope around all of it: what the service opens in `start` and closes in `stop` has to lie within the same ones.
        with anyio.CancelScope() as whole:
            try:
                await self._wanted.wait()
                if not self._over.is_set():
                    await self._service.start()
                    whole.shield = True  # a service that was started is stopped; the kernel bounds how long that may take
                    self._started.set()
                    await self._over.wait()
                    await self._service.stop()
            except Exception as failure:
                if self._started.is_set():
                    raise
                self._failure = failure  # told to everybody who asks for the start
            finally:
                self._failure = self._failure or RuntimeError("the service was stopped")
                self._started.set()


class Integration(SeamIntegration):
    """Remembers nothing but, for each living plugin context, which ids it has registered."""

    def __init__(self) -> None:
        self._taken: dict[tuple[int, str, type, str], Registered] = {}

    def register_tool_service(self, owner: str, service: ToolService, *, ctx: Context) -> Callable[[], None]:
        return self._register(owner, service, ToolService, ctx)

    def register_skill_service(
        self, owner: str, service: SkillService, *, ctx: Context
    ) -> Callable[[], None]:
        return self._register(owner, service, SkillService, ctx)

    def _register(
        self,
        owner: str,
        service: ToolService | SkillService,
        kind: type[ToolService | SkillService],
        ctx: Context,
    ) -> Callable[[], None]:
        name = _checked_id(service, kind, owner)
        key = (id(ctx), owner, kind, name)
        if key in self._taken:
            raise DuplicateRegistration(
                f"plugin {ctx.name!r} has registered a service with the id {name!r} for {owner!r}; give the second another id",
                id=name,
                owner=owner,
            )
        life = OwnedLife(service)
        registered = Registered(service=service, owner=owner, source=f"plugin:{ctx.name}", life=life)
        try:
            release = ctx.contribute(registered)
        except ContextSealed as sealed:
            raise _sealed(name, ctx, "registered") from sealed
        self._taken[key] = registered
        ctx.start_soon(life.live, name=f"service {name}")

        def withdraw() -> None:
            self._taken.pop(key, None)
            life.end()

        ctx.effect(withdraw, name=f"the service {name}")  # undone before the task above is cancelled

        def dispose() -> None:
            if self._taken.get(key) is not registered:
                return  # disposed before; what stands under the id now is somebody else's
            try:
                release()
            except ContextSealed as sealed:
                raise _sealed(name, ctx, "withdrawn") from sealed
            del self._taken[key]
            life.end()

        return dispose


def _checked_id(service: object, kind: type[ToolService | SkillService], owner: str) -> str:
    if not isinstance(service, kind):
        raise InvalidTool(
            f"{type(service).__name__} is not a {kind.__name__}; subclass it and fill in its methods",
            tool=repr(service),
        )
    name: object = getattr(service, "id", None)
    if not isinstance(name, str) or not name.strip():
        raise InvalidTool(f"{type(service).__name__} has no id; a service is known by it", tool=repr(service))
    description: object = getattr(service, "description", None)
    if not isinstance(description, str):
        raise InvalidTool(f"service {name!r} has no description; a person chooses by it", tool=name)
    if not owner.strip():
        raise InvalidTool(
            f"service {name!r} is registered for nobody; the owner is `global` or an agent", tool=name
        )
    return name


def _sealed(name: str, ctx: Context, what: str) -> RegistrationSealed:
    return RegistrationSealed(
        f"service {name!r} of plugin {ctx.name!r} cannot be {what} any more: its generation is published; "
        "change the deployment, so that a new generation is made",
        id=name,
    )


@plugin(provides=[SeamIntegration])
async def integration(ctx: Context, config: NoConfig) -> AsyncIterator[None]:
    """Lets plugins register services from outside."""
    ctx.provide(SeamIntegration, Integration())
    yield
