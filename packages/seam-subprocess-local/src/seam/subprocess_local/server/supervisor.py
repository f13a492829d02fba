"""One command and its tree: the Python twin of the supervisor in launcher.c; standard library alone."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import secrets
import select
import signal
import socket
import time

from seam.subprocess_local.server import protocol, tree

_SET_CHILD_SUBREAPER = 36
_SCAN_SECONDS = 0.05
_libc = ctypes.CDLL(None, use_errno=True)


def become_subreaper() -> None:
    """Have orphans of the tree handed to this process (prctl(2))."""
    _libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def pidfd(pid: int) -> int:
    """A descriptor that becomes readable when the process ends; -1 on an old kernel."""
    try:
        return os.pidfd_open(pid)
    except OSError:
        return -1


class Supervisor:
    """Starts the command, watches it, ends what is left of its tree.

    `scan`: the tree is what can be found, instead of what the kernel hands over."""

    def __init__(self, order: protocol.Order, host: int, *, scan: bool) -> None:
        self._order = order
        self._control = socket.socket(fileno=order.descriptors.pop(0))
        self._log = order.descriptors[3] if order.detached else -1
        self._host = -1 if order.detached else host
        self._mark = secrets.token_hex(16) if scan else None
        self._leader = 0
        self._reaped = False
        self._left_behind = False
        self._deadline: float | None = None
        self._escalated = False
        self._open = True

    def run(self) -> None:
        """Everything, from the start of the command to the end of its tree."""
        failed = self._start()
        if failed is not None:
            self._tell(protocol.event(protocol.FAILED, *failed, 0))
            return
        self._tell(protocol.event(protocol.STARTED, self._leader, os.getpid(), 0))
        for descriptor in self._order.descriptors:
            if descriptor != self._log:
                os.close(descriptor)
        if self._order.detached:
            os.setsid()
        self._watch()
        if self._left_behind or self._deadline is not None:
            self._tell(
                protocol.event(protocol.GONE, self._leader, 0, protocol.FACT_ESCALATED * self._escalated)
            )
        if self._order.cgroup:
            with contextlib.suppress(OSError):  # EBUSY: somebody else put a process there
                os.rmdir(self._order.cgroup)  # noqa: PTH106 - bytes

    def _tell(self, data: bytes) -> None:
        if self._log >= 0:
            os.write(self._log, data)
        if self._open:
            with contextlib.suppress(OSError):  # a host that is gone is noticed by poll, not here
                self._control.sendall(data, socket.MSG_NOSIGNAL)

    # -- the start --

    def _start(self) -> tuple[int, int] | None:
        """Start the command without forking again: what posix_spawn cannot set, this process sets for itself and
        hands down. None, or where it failed and with which errno."""
        order, stage = self._order, protocol.CGROUP
        try:
            home = self._join(order.cgroup) if order.cgroup else None
            stage = protocol.DIRECTORY
            os.chdir(order.cwd)
            stage = protocol.DESCRIPTORS
            actions = self._actions()
            stage = protocol.EXECUTE
            self._leader = os.posix_spawn(
                order.file,
                order.argv,
                order.env if self._mark is None else {**order.env, tree.MARK.encode(): self._mark.encode()},
                file_actions=actions,
                setsid=True,
                setsigmask=(),
                setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
            )
            os.chdir("/")
            if home is not None:
                _enter(home)
        except OSError as problem:
            return stage, problem.errno or 0
        return None

    def _actions(self) -> list[tuple[int, ...] | tuple[int, int, str, int, int]]:
        order = self._order
        given = [*order.descriptors[:3], *order.descriptors[4:]]
        targets = [0, 1, 2, *order.targets]
        beyond = max(targets) + 1  # first out of the way of every target, then into place
        moved = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, beyond) for descriptor in given]
        order.descriptors += moved
        actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = []
        for descriptor, target in zip(moved, targets, strict=True):
            actions.append((os.POSIX_SPAWN_DUP2, descriptor, target))
        if (
            order.flags & protocol.FLAG_TERMINAL
        ):  # a session leader that opens a terminal gets it as its controlling one
            actions.append((os.POSIX_SPAWN_OPEN, 0, os.ttyname(moved[0]), os.O_RDWR, 0))
        return actions

    def _join(self, cgroup: bytes) -> bytes:
        os.mkdir(cgroup)  # noqa: PTH102 - bytes
        _enter(cgroup)
        return cgroup.rpartition(b"/")[0]

    # -- the watch --

    def _watch(self) -> None:
        woken = wake_on_child()
        poll = select.poll()
        for descriptor in (woken, self._control.fileno(), self._host):
            if descriptor >= 0:
                poll.register(descriptor, select.POLLIN)
        pause = 0.001
        while self._collect():
            if not self._open and self._reaped and self._order.flags & protocol.FLAG_END:
                self._terminate(self._order.grace)
            timeout = _SCAN_SECONDS if self._mark is not None and self._reaped else None
            if self._deadline is not None:
                timeout = self._deadline - time.monotonic()
                if timeout <= 0:
                    self._escalated = True
                    self._signal_tree(signal.SIGKILL)
                    timeout, pause = pause, min(pause * 2, 0.064)
            ready = dict(poll.poll(None if timeout is None else max(1, timeout * 1000)))
            if woken in ready:
                os.read(woken, 4096)
            if self._host in ready:
                poll.unregister(self._host)
                self._terminate(0)
            if self._open and self._control.fileno() in ready:
                self._serve(poll)

    def _serve(self, poll: select.poll) -> None:
        try:
            data = self._control.recv(protocol.REQUEST.size)
        except ConnectionError:
            data = b""
        if len(data) < protocol.REQUEST.size:
            poll.unregister(self._control.fileno())
            self._control.close()
            self._open = False
            if not self._order.detached:
                self._terminate(0)
            return
        kind, value = protocol.REQUEST.unpack(data)
        if kind == protocol.TERMINATE:
            self._terminate(value / 1000)
        elif kind == protocol.SIGNAL:
            self._signal_group(value)
        elif kind == protocol.ASK_LIST:
            members = self._members()[: protocol.LIST_MAX]
            names = [protocol.LISTED.pack(seen.pid, seen.name.encode()[:15]) for seen in members]
            self._tell(protocol.event(protocol.LIST, len(names), 0, 0) + b"".join(names))

    def _collect(self) -> bool:
        """Collect children that have ended; True while something of the tree is left."""
        status, left = None, True
        while left:
            try:
                pid, found = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                left = False
                break
            if pid == 0:
                break
            if pid == self._leader:
                status, self._reaped = found, True
        if self._mark is not None and self._reaped:
            left = bool(self._members())
        if status is not None:
            self._left_behind = left
            facts = protocol.FACT_LEFT * left | protocol.FACT_ESCALATED * self._escalated
            self._tell(protocol.event(protocol.EXITED, self._leader, status, facts))
        return left

    def _members(self) -> list[tree.Seen]:
        processes = tree.look()
        if self._mark is None:
            return tree.descendants(os.getpid(), processes)
        return tree.marked(self._mark, self._leader, processes)

    def _signal_group(self, number: int) -> None:
        if not self._reaped:  # its parent is this process: the number is still its own
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._leader, number)

    def _signal_tree(self, number: int) -> None:
        self._signal_group(number)
        for seen in self._members():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(seen.pid, number)
                if number == signal.SIGTERM:
                    os.kill(seen.pid, signal.SIGCONT)  # a stopped process acts on nothing else

    def _terminate(self, grace: float) -> None:
        deadline = time.monotonic() + grace
        if self._deadline is not None and deadline >= self._deadline:
            return
        first = self._deadline is None
        self._deadline = deadline
        if first and grace > 0:
            self._signal_tree(signal.SIGTERM)

    def ended(self, number: int) -> None:
        """A signal to this very process: how a detached tree is ended from outside."""
        if self._order.detached:
            self._terminate(self._order.grace if number == signal.SIGTERM else 0)


def _enter(cgroup: bytes) -> None:
    with open(cgroup + b"/cgroup.procs", "wb") as file:  # noqa: PTH123 - bytes
        file.write(b"0")


def wake_on_child() -> int:
    """A descriptor that becomes readable when a child ends."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    os.set_blocking(reading, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    return reading
