"""Attempts to reach other processes, and to outlive one's own end."""

from __future__ import annotations

from seam.sandbox_def._gaps import GapCode
from seam.sandbox_def.conformance._attempt import Attempt

_SIGNAL, _SETTINGS, _OUTLIVE = "signals", "process-settings", "outlive"


def _signalled(name: str, code: str) -> Attempt:
    return Attempt(name, _SIGNAL, code, "signalled", GapCode.SIGNALS_OUTSIDE)


def _touched(name: str, code: str) -> Attempt:
    return Attempt(name, _SETTINGS, code, "touched")


_DAEMON = (
    "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
    "        for fd in range(3):\n            os.close(fd)\n        {}\n"
    "        os.execv(sys.executable, [sys.executable, '-I', '-S', '-c', 'import time; time.sleep(20)', A['mark']])\n"
    "    os._exit(0)\n"
    "time.sleep(0.1)"
)

PROCESSES: tuple[Attempt, ...] = (
    _signalled("signal a process", "os.kill(V, signal.SIGUSR1)"),
    _signalled("signal a thread", "sc(234, 131, V, V, signal.SIGUSR1)"),
    _signalled("signal by descriptor", "signal.pidfd_send_signal(os.pidfd_open(V), signal.SIGUSR1)"),
    _signalled("queue a signal", "sc(129, 138, V, 10, struct.pack('iii4xiI', 10, 0, -1, 0, 0) + bytes(104))"),
    _signalled("signal a process group", "os.killpg(os.getpgid(V), signal.SIGUSR1)"),
    _signalled("signal everybody", "os.kill(-1, signal.SIGURG) if False else os.kill(V, signal.SIGUSR1)"),
    _signalled(
        "let input raise a signal",
        "r, w = os.pipe(); fcntl.fcntl(r, 10, 10); fcntl.fcntl(r, 8, V)\n"
        "fcntl.fcntl(r, 4, os.O_ASYNC | os.O_NONBLOCK); os.write(w, b'x'); time.sleep(0.05)",
    ),
    _touched("change a process's limits", "resource.prlimit(V, resource.RLIMIT_CORE, (0, A['core']))"),
    _touched("change a process's priority", "os.setpriority(0, V, 7)"),
    _touched(
        "change a process's processors", "os.sched_setaffinity(V, {sorted(os.sched_getaffinity(V))[-1]})"
    ),
    _touched("change a process's scheduling", "os.sched_setscheduler(V, 3, os.sched_param(0))"),
    _touched("change a process's disk priority", "sc(251, 30, 1, V, (3 << 13))"),
    _touched("offer a process to the memory killer", "put(f'/proc/{V}/oom_score_adj', '500')"),
    _touched("change a process's name", "put(f'/proc/{V}/comm', 'other')"),
    Attempt("leave a daemon", _OUTLIVE, _DAEMON.format("pass"), "outlived", GapCode.DAEMONS_OUTLIVE),
    Attempt(
        "leave a daemon that ignores signals",
        _OUTLIVE,
        _DAEMON.format("[signal.signal(n, signal.SIG_IGN) for n in (1, 2, 3, 15)]"),
        "outlived",
        GapCode.DAEMONS_OUTLIVE,
    ),
    Attempt(
        "leave a stopped daemon",
        _OUTLIVE,
        _DAEMON.format(
            "p = os.getpid()\n        if os.fork() == 0:\n            time.sleep(0.05); os.kill(p, 19); os._exit(0)"
        ),
        "outlived",
        GapCode.DAEMONS_OUTLIVE,
    ),
    Attempt(
        "leave a daemon without environment",
        _OUTLIVE,
        "subprocess.Popen(['env', '-i', 'setsid', sys.executable, '-I', '-S', '-c', 'import time; time.sleep(20)', A['mark']],"
        " stdin=-3, stdout=-3, stderr=-3)\ntime.sleep(0.1)",
        "outlived",
        GapCode.DAEMONS_OUTLIVE,
    ),
)
