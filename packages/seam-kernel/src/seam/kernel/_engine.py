"""Starts and stops instances as their requirements come and go.

Everything that changes an instance's prospects marks it as due; one task looks at what is due and decides. Starting and
stopping happen in the task of each instance. Two rules keep it free of deadlocks: an instance binds only to services
of active instances, so the graph of use has no circles; and it ends only when nothing uses it any more.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable

import anyio
from anyio.abc import TaskGroup

from seam.kernel._agenda import Agenda
from seam.kernel._blocked import Blocked, awaits_optional
from seam.kernel._errors import InvalidDeclaration, PluginFailed
from seam.kernel._fault import FaultBook
from seam.kernel._node import Node, Provision
from seam.kernel._overdue import Overdue
from seam.kernel._resolve import awaited, claimant, offered, outdated, provision, startable
from seam.kernel._run import Run
from seam.kernel._seal import sealed_around


class Engine:
    """The state and the transitions of every instance of one kernel."""

    def __init__(self, *, grace: float, abandon_after: float, faults: FaultBook) -> None:
        self.grace = grace
        self.abandon_after = abandon_after
        self.faults = faults
        self.nodes: dict[Node, None] = {}
        self.running = False
        self.agenda = Agenda()
        self._tasks: TaskGroup | None = None
        self._blocked = Blocked()
        self.overdue = Overdue()

    # -- tasks

    def open(self, tasks: TaskGroup) -> None:
        """Begin to work."""
        self._tasks = tasks
        self.running = True
        self.spawn(self._reconcile, "kernel")

    def shut(self) -> None:
        """Stop to work; everything must have ended before."""
        self.running = False
        self.agenda.wake()

    def spawn(self, body: Callable[[], Coroutine[None, None, None]], name: str) -> None:
        """Run a task that the kernel's task group owns."""
        assert self._tasks is not None
        self._tasks.start_soon(body, name=name)

    # -- what is due

    def register(self, node: Node) -> None:
        """Know a new instance and look at it."""
        self.nodes[node] = None
        self.agenda.follow(node)
        self.agenda.touch(node.provides)

    async def _reconcile(self) -> None:
        with anyio.CancelScope(shield=True):
            while self.running:
                await self.agenda.next_change(self.overdue.next_moment())
                self._work()

    def _work(self) -> None:
        for run in self.overdue.at(anyio.current_time()):
            self._abandon(run)
        for node in self.agenda.work():
            self._look_at(node)
        for node in self._blocked.give_up():
            self._start(node)
        self.agenda.tell_settled()

    def _look_at(self, node: Node) -> None:
        if node.run is not None:
            listed = (
                node.places and node.sealed_by is None and not any(place.closing for place in node.places)
            )
            if listed and not node.run.closing and not node.run.crashed and outdated(node):
                self.stop([node], final=False)
        elif startable(node):
            self._blocked.remove(node)
            if not awaited(node, node.requires):
                if awaits_optional(node):
                    self._blocked.add(node)
                else:
                    self._start(node)

    # -- transitions

    def _start(self, node: Node) -> None:
        bindings: dict[str, Provision] = {}
        for key, service in {**node.requires, **node.optional}.items():
            found = provision(node, key)
            if found is None:
                continue
            if not isinstance(found.implementation, service):
                self._misfit(node, key, service, found)
                return
            bindings[key] = found
        node.run = Run(self, node, bindings)
        for found in bindings.values():
            found.dependents[node] = None
        node.status = "starting"
        self._begin(node)
        self.spawn(node.run.live, node.name)

    def _misfit(self, node: Node, key: str, service: type[object], found: Provision) -> None:
        error = InvalidDeclaration(
            f"{found.node.name!r} provides {key!r} as {found.service.__module__}.{found.service.__qualname__}, "
            f"which is not the {service.__module__}.{service.__qualname__} that {node.name!r} asks for; "
            "two definitions claim one key",
            key=key,
            plugin=node.name,
        )
        node.status = "failed"
        node.failure = PluginFailed(f"plugin {node.name!r} failed: {error}", plugin=node.name)
        node.failure.__cause__ = error
        node.report("set-up", "", error)
        self.agenda.touch(node.provides)

    def _begin(self, node: Node) -> None:
        if node.transition is None:
            node.transition = node.home
            node.home.busy += 1

    def _end(self, node: Node) -> None:
        if node.transition is not None:
            node.transition.busy -= 1
            node.transition = None
        self.agenda.wake()

    def activated(self, run: Run) -> None:
        """The set-up is complete: everything it registered takes hold at once."""
        node = run.node
        node.status = "active"
        node.published = True
        if node.listeners:
            node.forget_listeners()
        for found in node.provisions.values():
            found.open = True
        self.agenda.touch(node.provisions)
        self._end(node)

    def stop(self, nodes: Iterable[Node], *, final: bool) -> None:
        """Have instances stopped, and before each one everything that uses it. Returns at once.

        `final` ones are gone afterwards; the others, and all dependents, become pending.
        """
        todo = [(node, final) for node in nodes]
        marked: list[Node] = []
        while todo:
            node, last = todo.pop()
            node.final = node.final or last
            run = node.run
            if run is None:
                if node.final:
                    self._remove(node)
            elif not run.closing:
                run.closing = True
                self._begin(node)
                node.status = "stopping"
                for found in node.provisions.values():
                    found.open = False
                todo.extend((user, False) for user in node.dependents)
                marked.append(node)
        for node in marked:
            self._release_unused(node)

    def _release_unused(self, node: Node) -> None:
        if node.run is not None and node.run.closing and not node.in_use:
            node.run.release()

    def finished(self, run: Run) -> None:
        """A run is over, one way or the other."""
        if run.over:
            return  # it was abandoned, and ended after all
        node, run.over = run.node, True
        self.overdue.forget(run)
        run.services.clear()
        run.views.clear()
        node.unpublish()
        node.run = None
        for found in run.bindings.values():
            found.dependents.pop(node, None)
            self._drained(found)
        self._end(node)
        if run.failure is not None:
            node.failure = run.as_failure()
        if node.final:
            self._remove(node)
        elif run.failure is not None:
            node.status = "failed"
        else:
            node.status = "pending"
            self.agenda.add([node])
        self.agenda.touch(node.provides)
        self.consider(node)

    def _remove(self, node: Node) -> None:
        if node.status == "stopped":
            return
        node.status = "stopped"
        self._blocked.remove(node)
        self.nodes.pop(node, None)
        self.agenda.forget(node)
        for place in node.places:
            place.leave(node)
            place.rows.pop(node, None)
        if node.parent is not None:
            node.parent.children.pop(node, None)
        if node.detach is not None:
            node.detach()
        self.agenda.touch(node.provides)
        node.ended.set()

    def _drained(self, found: Provision) -> None:
        if found.dependents:
            return
        if found.withdrawn is not None:
            found.withdrawn.set()
            self.forget_provision(found)
        self._release_unused(found.node)
        self.consider(found.node)

    def consider(self, node: Node) -> None:
        """Dispose of a family that nobody needs any more."""
        top = node.top
        if not top.final and not top.kept():
            self.stop([top], final=True)

    # -- services

    def open_provision(self, found: Provision) -> None:
        """A running instance provides one more service."""
        found.open = True
        self.agenda.touch([found.service.service_key])

    def forget_provision(self, found: Provision) -> None:
        """Nobody uses it: it is gone."""
        key = found.service.service_key
        found.open = False
        if found.node.provisions.get(key) is found:
            del found.node.provisions[key]
        self.agenda.touch([key])

    async def withdraw(self, found: Provision) -> None:
        """Unwind who uses a service, then take it away."""
        found.open = False
        found.withdrawn = anyio.Event()
        self.stop(list(found.dependents), final=False)
        self._drained(found)
        await found.withdrawn.wait()

    def missing(self, node: Node) -> tuple[str, ...]:
        """Required keys that a pending instance does not get now."""
        if node.status != "pending":
            return ()
        return tuple(
            key
            for key in node.requires
            if (claim := claimant(node, key)) is None or offered(claim, key) is None
        )

    # -- what goes wrong

    def unwind_crashed(self, run: Run) -> bool:
        """A scope that a plugin keeps open broke: unwind it, dependents first. False where something is sealed."""
        if sealed_around(run.node) is not None:
            return False
        self.stop([run.node], final=False)
        return True

    def crashed_in_place(self, run: Run) -> None:
        """A plugin broke in a sealed scope: recorded, nothing is unwound."""
        self.overdue.forget(run)
        if not run.closing:
            run.node.status = "failed"
            run.node.failure = run.as_failure()

    def watch(self, run: Run, deadline: float) -> None:
        """Go on without a run that has not ended `abandon_after` seconds after its deadline."""
        if not run.over:
            self.overdue.expect(run, deadline + self.abandon_after)
            self.agenda.wake()

    def _abandon(self, run: Run) -> None:
        run.fail("tear-down", run.abandonment("its clean-up", ended=False))
        run.registrations.cancel_tasks()
        self.stop(list(run.node.children), final=True)
        self.finished(run)
