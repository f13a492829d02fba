"""The launcher in Python, for machines without the compiled one. Run as `python -I -S confine.py FD -- argv`;
never imported. Same message, same status, same steps as launcher/confine.c, which documents them.
"""

# It is started for every command, so it imports as little as it can.
# ruff: noqa: PTH102, PTH123, PTH208, SIM105

import ctypes
import os
import resource
import signal
import socket
import sys

_PR_CAPBSET_DROP, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 24, 22, 38, 47
_CAPSET = {"x86_64": 126, "aarch64": 91}
_PRIVATE_DESCRIPTORS = 64
_FILE_RIGHTS = 0b1100_0000_0000_0111


class _Steps:
    def __init__(self) -> None:
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.status = -1
        self.ruleset = -1
        self.reap = False
        self.survivors = False
        self.runner = False
        self.env: dict[bytes, bytes] = {}

    def report(self, text: str) -> None:
        if self.status >= 0:
            os.write(self.status, text.encode() + b"\n")

    def call(self, step: str, result: int) -> int:
        if result < 0:
            raise OSError(ctypes.get_errno(), step)
        return result

    def prctl(self, step: str, *arguments: object) -> None:
        words = [a if not isinstance(a, int) else ctypes.c_ulong(a) for a in arguments]
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
        for number in [int(name) for name in os.listdir("/proc/self/fd")]:
            if number >= _PRIVATE_DESCRIPTORS:
                os.set_inheritable(number, False)

    def do_limit(self, value: bytes) -> None:
        number, wanted = (int(part) for part in value.split(b":"))
        hard = resource.getrlimit(number)[1]
        limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(number, (limit, limit))

    def do_join(self, value: bytes) -> None:
        with open(value, "wb", buffering=0) as group:
            group.write(b"0")

    def do_mkdir(self, value: bytes) -> None:
        try:
            os.mkdir(value, 0o700)
        except FileExistsError:
            pass

    def do_cwd(self, value: bytes) -> None:
        os.chdir(value)

    def do_listen(self, value: bytes) -> None:
        port, _, path = value.partition(b":")
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as inside:
            inside.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            inside.bind(("127.0.0.1", int(port)))
            inside.listen(64)
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as outside:
                outside.connect(path)
                socket.send_fds(outside, [b"L"], [inside.fileno()])

    def do_ruleset(self, value: bytes) -> None:
        rights = (ctypes.c_uint64 * 3)(*(int(part, 16) for part in value.split(b":")))
        size = 24 if rights[2] else 16 if rights[1] else 8
        self.ruleset = self.call(
            "ruleset", self.libc.syscall(444, ctypes.byref(rights), ctypes.c_size_t(size), 0)
        )

    def do_path(self, value: bytes) -> None:
        text, _, path = value.partition(b":")
        rights = int(text, 16)
        try:
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except (FileNotFoundError, PermissionError, NotADirectoryError):
            return
        if os.fstat(fd).st_mode & 0o170000 != 0o040000:
            rights &= _FILE_RIGHTS
        rule = rights.to_bytes(8, sys.byteorder) + fd.to_bytes(4, sys.byteorder)
        if rights:
            self.call("path", self.libc.syscall(445, self.ruleset, 1, rule, 0))
        os.close(fd)

    def do_port(self, value: bytes) -> None:
        rights, _, port = value.partition(b":")
        rule = int(rights, 16).to_bytes(8, sys.byteorder) + int(port).to_bytes(8, sys.byteorder)
        self.call("port", self.libc.syscall(445, self.ruleset, 2, rule, 0))

    def do_restrict(self, value: bytes) -> None:
        self.prctl("restrict", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        self.call("restrict", self.libc.syscall(446, self.ruleset, 0))
        os.close(self.ruleset)

    def do_caps(self, value: bytes) -> None:
        for cap in range(64):
            self.libc.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(cap), 0, 0, 0)
        self.libc.prctl(_PR_CAP_AMBIENT, ctypes.c_ulong(4), 0, 0, 0)
        header = (ctypes.c_uint32 * 2)(0x20080522, 0)
        none = (ctypes.c_uint32 * 6)()
        number = _CAPSET[os.uname().machine]
        self.call("capabilities", self.libc.syscall(number, ctypes.byref(header), ctypes.byref(none)))

    def do_reap(self, value: bytes) -> None:
        self.reap = True
        self.survivors = value == b"survivors"

    def do_runner(self, value: bytes) -> None:
        self.runner = True

    def do_env(self, value: bytes) -> None:
        name, _, text = value.partition(b"=")
        self.env[name] = text

    def filter(self, program: bytes) -> None:
        class Program(ctypes.Structure):
            _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_char_p)]

        whole = Program(len(program) // 8, program)
        self.prctl("filter", _PR_SET_SECCOMP, 2, ctypes.byref(whole), 0, 0)


def _read(fd: int) -> bytes:
    parts: list[bytes] = []
    while part := os.read(fd, 1 << 16):
        parts.append(part)
    os.close(fd)
    return b"".join(parts)


def _stay(steps: _Steps, child: int) -> None:
    for fd in range(3):
        os.close(fd)
    gone, how = os.waitpid(-1, 0)
    while gone != child:
        gone, how = os.waitpid(-1, 0)
    if steps.survivors:
        _report_survivors(steps)
    code = os.waitstatus_to_exitcode(how)
    steps.report(f"signal {-code}" if code < 0 else f"exit {code}")
    os._exit(128 - code if code < 0 else code)


def _report_survivors(steps: _Steps) -> None:
    for number in sorted(int(name) for name in os.listdir("/proc") if name.isdecimal()):
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
        os._exit(125)
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


def main() -> None:
    steps = _Steps()
    argv = [os.fsencode(argument) for argument in sys.argv[3:]]
    if len(sys.argv) < 4 or sys.argv[2] != "--":
        os._exit(125)
    try:
        _obey(steps, _read(int(sys.argv[1])))
        if steps.reap:
            child = os.fork()
            if child:
                _stay(steps, child)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
            try:
                signal.signal(number, signal.SIG_DFL)
            except OSError:
                pass  # numbers that the C library keeps for itself
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT) if steps.runner else ():
            signal.signal(number, signal.SIG_IGN)
        steps.report("ready 0")
        try:
            os.execvpe(argv[0], argv, steps.env)
        except OSError as error:
            raise OSError(error.errno or 5, "exec") from error
    except OSError as error:
        steps.report(f"failed {error.strerror} {error.errno}")
        os._exit(125)


if __name__ == "__main__":
    main()
