"""The launcher in Python, for machines without the compiled one; never imported. Same message, same status, same steps as
launcher/confine.c, which documents them. `_launcher.py` says how it is started.
"""

# It is started for every command: it imports only what the interpreter has at hand without reading files, and `_ctypes`.
# ruff: noqa: PTH123, SIM105

import _ctypes
import posix
import sys
from posix import _exit as leave  # pyright: ignore[reportPrivateUsage] - it is public as os._exit

_PR_CAPBSET_DROP, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 24, 22, 38, 47
_CAPSET = {"x86_64": 126, "aarch64": 91}
_PRIVATE_DESCRIPTORS = 64
_FILE_RIGHTS = 0b1100_0000_0000_0111
_SIGNALS = range(1, 65)
_SIGHUP, _SIGINT, _SIGQUIT, _SIGTERM = 1, 2, 3, 15
_SIG_SETMASK, _SIG_DFL, _SIG_IGN = 2, 0, 1
_AF_UNIX, _AF_INET, _SOCK_STREAM, _SOL_SOCKET, _SO_REUSEADDR, _SCM_RIGHTS = 1, 2, 1, 1, 2, 1


_Simple = _ctypes._SimpleCData  # pyright: ignore[reportPrivateUsage] - ctypes itself takes 5 ms to import


class _Word(_Simple):  # pyright: ignore[reportMissingTypeArgument] - it cannot be subscripted at run time
    _type_ = "L"


class _Text(_Simple):  # pyright: ignore[reportMissingTypeArgument] - as above
    _type_ = "z"


class _Int(_Simple):  # pyright: ignore[reportMissingTypeArgument] - as above
    _type_ = "i"


class _Limit(_ctypes.Structure):
    _fields_ = (("soft", _Word), ("hard", _Word))
    soft: int
    hard: int


class _Function(_ctypes.CFuncPtr):
    _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
    _restype_ = _Int


class _Library:
    """Functions of the C library. An int is passed as a C int, bytes as a pointer to them."""

    def __init__(self) -> None:
        loaded = _ctypes.dlopen(None, 2)  # pyright: ignore[reportArgumentType] - None is the program itself
        names = ("prctl", "syscall", "getrlimit", "setrlimit", "signal", "sigprocmask")
        found = [_Function(_ctypes.dlsym(loaded, name)) for name in names]
        self.prctl, self.syscall, self.getrlimit, self.setrlimit, self.signal, self.sigprocmask = found


class _Steps:
    def __init__(self) -> None:
        self.libc = _Library()
        self.status = -1
        self.ruleset = -1
        self.reap = False
        self.survivors = False
        self.runner = False
        self.env: dict[bytes, bytes] = {}

    def report(self, text: str) -> None:
        if self.status >= 0:
            posix.write(self.status, text.encode() + b"\n")

    def call(self, step: str, result: int) -> int:
        if result < 0:
            raise OSError(_ctypes.get_errno(), step)
        return result

    def prctl(self, step: str, *arguments: object) -> None:
        words = [a if not isinstance(a, int) else _Word(a) for a in arguments]
        self.call(step, self.libc.prctl(*words))

    def apply(self, name: str, value: bytes) -> None:
        step = getattr(self, f"do_{name}", None)
        if step is None:
            raise OSError(22, "message")
        try:
            step(value)
        except OSError as error:
            raise OSError(error.errno or 5, name) from error

    def do_status(self, value: bytes) -> None:
        self.status = int(value)

    def do_close(self, value: bytes) -> None:
        for number in [int(name) for name in posix.listdir("/proc/self/fd")]:
            if number >= _PRIVATE_DESCRIPTORS:
                posix.set_inheritable(number, False)

    def do_limit(self, value: bytes) -> None:
        number, wanted = (int(part) for part in value.split(b":"))
        held = _Limit()
        self.call("limit", self.libc.getrlimit(number, _ctypes.byref(held)))
        limit = min(wanted, held.hard)
        self.call("limit", self.libc.setrlimit(number, _ctypes.byref(_Limit(limit, limit))))

    def do_join(self, value: bytes) -> None:
        with open(value, "wb", buffering=0) as group:
            group.write(b"0")

    def do_mkdir(self, value: bytes) -> None:
        try:
            posix.mkdir(value, 0o700)
        except FileExistsError:
            pass

    def do_cwd(self, value: bytes) -> None:
        posix.chdir(value)

    def do_listen(self, value: bytes) -> None:
        import _socket  # only a command with a proxy needs it

        port, _, path = value.partition(b":")
        inside = _socket.socket(_AF_INET, _SOCK_STREAM)
        inside.setsockopt(_SOL_SOCKET, _SO_REUSEADDR, 1)
        inside.bind(("127.0.0.1", int(port)))
        inside.listen(64)
        outside = _socket.socket(_AF_UNIX, _SOCK_STREAM)
        outside.connect(path)
        number = inside.fileno().to_bytes(4, sys.byteorder)
        outside.sendmsg([b"L"], [(_SOL_SOCKET, _SCM_RIGHTS, number)])
        outside.close()
        inside.close()

    def do_ruleset(self, value: bytes) -> None:
        rights = [int(part, 16) for part in value.split(b":")]
        size = 24 if rights[2] else 16 if rights[1] else 8
        attributes = b"".join(part.to_bytes(8, sys.byteorder) for part in rights)
        self.ruleset = self.call("ruleset", self.libc.syscall(444, attributes, _Word(size), 0))

    def do_path(self, value: bytes) -> None:
        text, _, path = value.partition(b":")
        rights = int(text, 16)
        try:
            fd = posix.open(path, posix.O_PATH | posix.O_CLOEXEC)
        except (FileNotFoundError, PermissionError, NotADirectoryError):
            return
        number = fd.to_bytes(4, sys.byteorder)
        if self.libc.syscall(445, self.ruleset, 1, rights.to_bytes(8, sys.byteorder) + number, 0) == 0:
            return  # left open: it is closed when the command begins
        rights &= _FILE_RIGHTS  # those of a folder were for something that is none
        if rights:
            rule = rights.to_bytes(8, sys.byteorder) + number
            self.call("path", self.libc.syscall(445, self.ruleset, 1, rule, 0))

    def do_port(self, value: bytes) -> None:
        rights, _, port = value.partition(b":")
        rule = int(rights, 16).to_bytes(8, sys.byteorder) + int(port).to_bytes(8, sys.byteorder)
        self.call("port", self.libc.syscall(445, self.ruleset, 2, rule, 0))

    def do_restrict(self, value: bytes) -> None:
        self.prctl("restrict", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        self.call("restrict", self.libc.syscall(446, self.ruleset, 0))
        posix.close(self.ruleset)

    def do_caps(self, value: bytes) -> None:
        for cap in range(64):
            self.libc.prctl(_PR_CAPBSET_DROP, _Word(cap), 0, 0, 0)
        self.libc.prctl(_PR_CAP_AMBIENT, _Word(4), 0, 0, 0)
        header = (0x20080522).to_bytes(4, sys.byteorder) + bytes(4)
        self.call("capabilities", self.libc.syscall(_CAPSET[posix.uname().machine], header, bytes(24)))

    def do_reap(self, value: bytes) -> None:
        self.reap = True
        self.survivors = value == b"survivors"

    def do_runner(self, value: bytes) -> None:
        self.runner = True

    def do_env(self, value: bytes) -> None:
        name, _, text = value.partition(b"=")
        self.env[name] = text

    def filter(self, program: bytes) -> None:
        # struct sock_fprog (seccomp(2)): the number of instructions, padding, and where they are
        pointer = _Text(program)
        whole = (len(program) // 8).to_bytes(2, sys.byteorder) + bytes(6) + bytes(memoryview(pointer))
        self.prctl("filter", _PR_SET_SECCOMP, 2, whole, 0, 0)


def _read(fd: int) -> bytes:
    parts: list[bytes] = []
    while part := posix.read(fd, 1 << 16):
        parts.append(part)
    posix.close(fd)
    return b"".join(parts)


def _stay(steps: _Steps, child: int) -> None:
    for fd in range(3):
        posix.close(fd)
    gone, how = posix.waitpid(-1, 0)
    while gone != child:
        gone, how = posix.waitpid(-1, 0)
    if steps.survivors:
        _report_survivors(steps)
    code = posix.waitstatus_to_exitcode(how)
    steps.report(f"signal {-code}" if code < 0 else f"exit {code}")
    leave(128 - code if code < 0 else code)


def _report_survivors(steps: _Steps) -> None:
    for number in sorted(int(name) for name in posix.listdir("/proc") if name.isdecimal()):
        try:
            with open(f"/proc/{number}/stat", "rb") as file:
                text = file.read()
        except OSError:
            continue
        name, _, rest = text.partition(b"(")[2].rpartition(b")")
        if number > 1 and not rest.startswith(b" Z"):
            steps.report(f"survivor {number} " + name.decode("utf-8", "replace").replace("\n", "?"))


def _obey(steps: _Steps, message: bytes) -> None:
    head, _, rest = message.partition(b"\0")
    if head != b"seam-confine 1":
        leave(125)
    program = b""
    while rest:
        field, _, rest = rest.partition(b"\0")
        name, _, value = field.partition(b"=")
        if name == b"filter":
            program, rest = rest[: int(value)], b""
        else:
            steps.apply(name.decode("ascii", "replace"), value)
    steps.prctl("privileges", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if program:
        steps.filter(program)


def _execute(argv: list[bytes], env: dict[bytes, bytes]) -> None:
    """As execvpe(3); returns by raising what the last try raised, or that there was no permission."""
    if b"/" in argv[0]:
        posix.execve(argv[0], argv, env)
    last = OSError(2, "exec")
    for folder in env.get(b"PATH", b"/usr/bin:/bin").split(b":"):
        if not folder.startswith(b"/"):
            continue  # what is relative would be looked for in a folder that the command can write
        try:
            posix.execve(folder + b"/" + argv[0], argv, env)
        except OSError as error:
            if error.errno not in (2, 20) and last.errno == 2:
                last = error
    raise last


def main() -> None:
    steps = _Steps()
    argv = [argument.encode(sys.getfilesystemencoding(), "surrogateescape") for argument in sys.argv[3:]]
    if len(sys.argv) < 4 or sys.argv[2] != "--":
        leave(125)
    try:
        _obey(steps, _read(int(sys.argv[1])))
        if steps.reap:
            child = posix.fork()
            if child:
                _stay(steps, child)
        steps.libc.sigprocmask(_SIG_SETMASK, bytes(128), None)
        for number in _SIGNALS:
            steps.libc.signal(number, _Word(_SIG_DFL))
        for number in (_SIGTERM, _SIGINT, _SIGHUP, _SIGQUIT) if steps.runner else ():
            steps.libc.signal(number, _Word(_SIG_IGN))
        steps.report("ready 0")
        try:
            _execute(argv, steps.env)
        except OSError as error:
            raise OSError(error.errno or 5, "exec") from error
    except OSError as error:
        steps.report(f"failed {error.strerror} {error.errno}")
        leave(125)


if __name__ == "__main__":
    main()
