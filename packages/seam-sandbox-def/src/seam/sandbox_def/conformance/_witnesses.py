"""Who sees from outside that an attempt worked: listeners, shared objects, and a process to attack."""

from __future__ import annotations

import ctypes
import os
import secrets
import selectors
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

from seam.sandbox_def.conformance._arena import Arena

_ROUND = 0.05
"""Seconds between looks at whether to stop."""

_VICTIM = """
import ctypes, os, signal, sys
folder, file, secret, word = sys.argv[2:6]
fds = [os.open(folder, os.O_RDONLY), os.open(file, os.O_RDWR), os.open(secret, os.O_RDONLY)]
room = ctypes.create_string_buffer(word.encode(), 64)
for number in (signal.SIGUSR1, signal.SIGIO, signal.SIGURG):
    signal.signal(number, lambda number, frame: os.write(1, b'!'))
signal.set_wakeup_fd(-1)
os.write(1, f'{fds[0]} {fds[1]} {fds[2]} {ctypes.addressof(room)}\\n'.encode())
while os.read(0, 1):
    pass
"""


class Listeners:
    """Sockets of every kind that write down what they hear, for the whole of a run.

    Args:
        folder: where socket files are made; short, for the sake of their length.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._heard = bytearray()
        self._selector = selectors.DefaultSelector()
        self._sockets: list[socket.socket] = []
        self._stop = threading.Event()
        self._given: int | None = None
        self._thread = threading.Thread(target=self._listen, name="seam-conformance-listeners")
        self.facts: dict[str, object] = {}

    def __enter__(self) -> Listeners:
        """Open every socket and start to listen."""
        self._open_all()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, wait, and close."""
        self._stop.set()
        self._thread.join()
        for one in self._sockets:
            one.close()
        self._selector.close()

    def heard(self, word: str) -> bool:
        """Whether anybody said `word`."""
        return word.encode() in bytes(self._heard)

    def give(self, descriptor: int | None) -> None:
        """The descriptor that connections to the giver receive."""
        self._given = descriptor

    def add_file(self, path: Path) -> None:
        """Listen on one more socket file."""
        self._stream(socket.AF_UNIX, str(path))

    def _open_all(self) -> None:
        self.facts |= {
            "tcp": int(self._stream(socket.AF_INET, ("127.0.0.1", 0))),
            "tcp6": int(self._stream(socket.AF_INET6, ("::1", 0))),
            "tcp_any": int(self._stream(socket.AF_INET, ("0.0.0.0", 0))),
            "udp": int(self._datagram(socket.AF_INET, ("127.0.0.1", 0), 0)),
            "udplite": int(self._datagram(socket.AF_INET, ("127.0.0.1", 0), 136)),
            "stream": self._stream(socket.AF_UNIX, f"{self._folder}/s"),
            "datagram": self._datagram(socket.AF_UNIX, f"{self._folder}/d", 0),
            "abstract": self._stream(socket.AF_UNIX, f"\0seam-{secrets.token_hex(8)}").lstrip("\0"),
            "giver": self._stream(socket.AF_UNIX, f"{self._folder}/g", giving=True),
            "address_of_host": _address_of_host(),
        }

    def _stream(self, family: int, address: object, *, giving: bool = False) -> str:
        one = socket.socket(family, socket.SOCK_STREAM)
        return self._bound(one, address, lambda: self._accept(one, giving), listen=True)

    def _datagram(self, family: int, address: object, protocol: int) -> str:
        one = socket.socket(family, socket.SOCK_DGRAM, protocol)
        return self._bound(one, address, lambda: self._note(one.recv(4096)), listen=False)

    def _bound(self, one: socket.socket, address: object, act: Callable[[], None], *, listen: bool) -> str:
        one.bind(address)  # pyright: ignore[reportArgumentType] - as the family wants it
        if listen:
            one.listen(64)
        self._sockets.append(one)
        self._selector.register(one, selectors.EVENT_READ, act)
        if one.family != socket.AF_UNIX:
            return str(one.getsockname()[1])
        return os.fsdecode(one.getsockname())

    def _listen(self) -> None:
        while not self._stop.is_set():
            for key, _ in self._selector.select(_ROUND):
                try:
                    key.data()
                except OSError:
                    continue  # the other side went away before it was heard

    def _accept(self, listener: socket.socket, giving: bool) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(1.0)
            if giving and self._given is not None:
                socket.send_fds(connection, [b"."], [self._given])
            self._note(connection.recv(4096))

    def _note(self, text: bytes) -> None:
        self._heard += text + b"\n"


class Victim:
    """A process outside that holds what attempts are after.

    Args:
        arena: whose files it holds open.
        interpreter: a Python that the caller can run.
    """

    def __init__(self, arena: Arena, interpreter: str) -> None:
        self._process = subprocess.Popen(
            (
                *(interpreter, "-I", "-S", "-c", _VICTIM, "victim", str(arena.outside)),
                *(str(arena.outside / "file"), str(arena.home / ".ssh/id"), arena.word),
            ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=arena.outside,
            env={"WORD": arena.word},
            start_new_session=True,
        )
        assert self._process.stdout is not None
        numbers = [int(part) for part in self._process.stdout.readline().split()]
        names = ("folder_fd", "file_fd", "secret_fd", "address")
        self.facts: dict[str, object] = {
            "victim": self._process.pid,
            **dict(zip(names, numbers, strict=True)),
        }
        self._before = self._settings()

    def touched(self) -> bool:
        """Whether any of its settings has changed."""
        return self._settings() != self._before

    def end(self) -> bool:
        """End it. Returns whether it had received a signal."""
        out, _ = self._process.communicate(b"")
        return b"!" in out

    def _settings(self) -> tuple[object, ...]:
        pid = self._process.pid
        libc = ctypes.CDLL(None)
        number = 252 if os.uname().machine == "x86_64" else 31  # ioprio_get(2) has no wrapper
        files = tuple(Path(f"/proc/{pid}", name).read_bytes() for name in ("limits", "oom_score_adj", "comm"))
        return (
            *files,
            os.getpriority(os.PRIO_PROCESS, pid),
            frozenset(os.sched_getaffinity(pid)),
            os.sched_getscheduler(pid),
            int(libc.syscall(number, 1, pid)),
        )


class SharedObjects:
    """Shared memory, a message queue and a file in /tmp, each with the word in it."""

    def __init__(self, word: str) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        token = secrets.token_hex(8)
        key = int(token[:7], 16) | 1
        self._id = int(self._libc.shmget(key, 4096, 0o1600))
        self._libc.shmat.restype = ctypes.c_void_p
        address = self._libc.shmat(self._id, None, 0)
        ctypes.memmove(address, word.encode(), len(word))
        self._libc.shmdt(ctypes.c_void_p(address))
        self._files = [Path("/dev/shm", f"seam-{token}"), Path("/tmp", f"conformance-{token}")]
        for path in self._files:
            path.write_text(word, "ascii")
        self._queue = f"/seam-{token}".encode()
        descriptor = int(self._libc.mq_open(self._queue, os.O_RDWR | os.O_CREAT, 0o600, None))
        if descriptor >= 0:
            os.close(descriptor)
        self.facts: dict[str, object] = {
            "shm_key": key,
            "shm_name": self._files[0].name,
            "tmp_file": str(self._files[1]),
            "queue": self._queue.decode(),
        }

    def remove(self) -> None:
        """Remove all of them."""
        self._libc.shmctl(self._id, 0, None)
        self._libc.mq_unlink(self._queue)
        for path in self._files:
            path.unlink(missing_ok=True)


def _address_of_host() -> str:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address for documentation: nothing is sent
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.2"
