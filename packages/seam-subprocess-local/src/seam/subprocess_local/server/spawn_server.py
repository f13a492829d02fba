"""The spawn server in Python, for where the launcher cannot run: `python -I -S spawn_server.py MODE SOCKET HOST`.

It runs with the standard library alone, in a small process of its own: forking that stays cheap whatever the host's
memory. MODE is `server` (subreapers: complete) or `scan` (what can be found by session, parents and a mark)."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import sys
from pathlib import Path
from types import FrameType, ModuleType

_HERE = Path(__file__).resolve().parent
for _name, _folder in (("seam.subprocess_local", _HERE.parent), ("seam", _HERE.parent.parent)):
    if _name not in sys.modules:  # run as a program: the packages without what they would import
        _package = sys.modules[_name] = ModuleType(_name)
        _package.__path__ = [str(_folder)]

from seam.subprocess_local.server import protocol, tree  # noqa: E402
from seam.subprocess_local.server.supervisor import Supervisor, become_subreaper, pidfd, wake_on_child  # noqa: E402


class Server:
    """Forks a supervisor for each order, and kills what a dead one leaves."""

    def __init__(self, orders: socket.socket, host: int, *, scan: bool) -> None:
        self._orders = orders
        self._host = pidfd(host)
        self._scan = scan
        self._supervisors: dict[int, bool] = {}
        self._orphans = False

    def run(self) -> None:
        """Serve until the host is gone and every supervisor that is not detached has ended."""
        woken = wake_on_child()
        poll = select.poll()
        for descriptor in (woken, self._orders.fileno(), self._host):
            if descriptor >= 0:
                poll.register(descriptor, select.POLLIN)
        serving = True
        while serving or not all(self._supervisors.values()):
            ready = dict(poll.poll())
            if woken in ready:
                os.read(woken, 4096)
                self._collect()
            if self._host in ready:
                serving = self._stop(poll)
            elif serving and self._orders.fileno() in ready:
                order = protocol.receive(self._orders)
                serving = self._take(order) if order is not None else self._stop(poll)
            if self._orphans:
                self._orphans = self._kill_orphans()

    def _stop(self, poll: select.poll) -> bool:
        for descriptor in (self._host, self._orders.fileno()):
            with contextlib.suppress(KeyError):
                poll.unregister(descriptor)
        self._host = -1
        return False

    def _take(self, order: protocol.Order) -> bool:
        expected = 5 + len(order.targets)
        try:
            if len(order.descriptors) < expected:  # MSG_CTRUNC: this process may not have as many
                _refuse(order, protocol.DESCRIPTORS, 24)
                return True
            pid = os.fork()
        except OSError as problem:
            _refuse(order, protocol.PROCESS, problem.errno or 0)
            return True
        if pid == 0:
            self._supervise(order)
        self._supervisors[pid] = order.detached
        order.close()
        return True

    def _supervise(self, order: protocol.Order) -> None:
        code = 1
        try:
            self._orders.close()
            if not self._scan:
                become_subreaper()
            supervisor = Supervisor(order, self._host, scan=self._scan)
            for number in (signal.SIGTERM, signal.SIGQUIT):
                signal.signal(number, lambda number, _: supervisor.ended(number))
            signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM, signal.SIGQUIT))
            supervisor.run()
            code = 0
        finally:
            os._exit(code)

    def _collect(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if self._supervisors.pop(pid, None) is None or os.WIFSIGNALED(status):
                self._orphans = True

    def _kill_orphans(self) -> bool:
        """A child that is no supervisor was the child of one that is dead; True if there was one."""
        own = os.getpid()
        found = [
            seen
            for seen in tree.look()
            if seen.parent == own and not seen.dead and seen.pid not in self._supervisors
        ]
        for seen in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(seen.pid, signal.SIGKILL)
        return bool(found)


def _refuse(order: protocol.Order, stage: int, number: int) -> None:
    with socket.socket(fileno=order.descriptors.pop(0)) as control, contextlib.suppress(OSError):
        control.sendall(protocol.event(protocol.FAILED, stage, number, 0), socket.MSG_NOSIGNAL)
    order.close()


def _nothing(number: int, frame: FrameType | None) -> None:
    del number, frame


def main() -> None:
    """Serve the host that started this."""
    mode, number, host = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    changeable = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
    for found in changeable:
        signal.signal(found, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, _nothing)  # the wake-up descriptor needs a handler
    signal.pthread_sigmask(signal.SIG_SETMASK, changeable - {signal.SIGCHLD})
    with contextlib.suppress(PermissionError):  # a session leader is the leader of its group already
        os.setpgid(0, 0)
    os.chdir("/")
    if os.getppid() != host:
        return
    if mode == "server":
        become_subreaper()
    Server(socket.socket(fileno=number), host, scan=mode == "scan").run()


if __name__ == "__main__":
    main()
