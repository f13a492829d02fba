"""Attempts to get another view of the system, or more power over it."""

from __future__ import annotations

from seam.sandbox_def._gaps import GapCode
from seam.sandbox_def.conformance._attempt import Attempt

_NAMESPACE, _MOUNT, _SETTINGS, _POWER = "namespaces", "mounts", "system-settings", "privileges"
_ATTACK = "kernel-interfaces"
_CAPABILITIES = "int([l for l in open('/proc/self/status') if '{}' in l][0].split()[1], 16) or 1/0"


def _said(name: str, kind: str, code: str, gap: str = "") -> Attempt:
    return Attempt(name, kind, code + "\nout()", "said", gap)


def _opened(name: str, path: str) -> Attempt:
    """Writing back what is there proves the right and changes nothing."""
    return _said(name, _SETTINGS, f"t = open({path!r}).read(); put({path!r}, t)")


def _not_refused(name: str, kind: str, call: str) -> Attempt:
    """The call is made with nonsense: any answer but "not permitted" means that the kernel looked at it."""
    code = f"try:\n    {call}\nexcept OSError as e:\n    e.errno in (1, 13, 38) and sys.exit(1)"
    return _said(name, kind, code)


KERNEL: tuple[Attempt, ...] = (
    _said("make a user namespace by unshare", _NAMESPACE, "sc(272, 97, 0x10000000)"),
    _said(
        "make every other namespace by unshare", _NAMESPACE, "sc(272, 97, 0x10000000 | 0x20000 | 0x40000000)"
    ),
    _said(
        "make a user namespace by clone",
        _NAMESPACE,
        "p = sc(56, 220, 0x10000000 | 17, 0, 0, 0, 0)\nif p == 0:\n    os._exit(0)\nos.waitpid(p, 0)",
    ),
    _said(
        "make a user namespace by clone3",
        _NAMESPACE,
        "a = struct.pack('QQQQQQQQ', 0x10000000, 0, 0, 0, 17, 0, 0, 0)\n"
        "p = sc(435, 435, a, 64)\nif p == 0:\n    os._exit(0)\nos.waitpid(p, 0)",
    ),
    _said("make a time namespace", _NAMESPACE, "sc(272, 97, 0x10000000 | 0x80)"),
    _said(
        "enter another namespace",
        _NAMESPACE,
        "fd = os.open(f'/proc/{V}/ns/mnt', 0); sc(308, 268, fd, 0x20000)",
    ),
    _said("enter a process's namespaces", _NAMESPACE, "sc(308, 268, os.pidfd_open(V), 0x20000)"),
    _said(
        "mount in a namespace of one's own",
        _MOUNT,
        "u = os.getuid(); sc(272, 97, 0x10020000); put('/proc/self/uid_map', f'0 {u} 1')\n"
        "L.mount(b'none', T.encode(), b'tmpfs', 0, None) and 1/0",
    ),
    _said(
        "mount", _MOUNT, "L.mount(b'none', T.encode(), b'tmpfs', 0, None) and 1/0\nL.umount2(T.encode(), 2)"
    ),
    _said(
        "bind mount",
        _MOUNT,
        "os.mkdir(T + '/b')\nL.mount(b'/', (T + '/b').encode(), None, 4096, None) and 1/0\nL.umount2((T + '/b').encode(), 2)",
    ),
    _said("remount as writable", _MOUNT, "L.mount(None, b'/', None, 32 | 4096, None) and 1/0"),
    _said("open a file system", _MOUNT, "sc(430, 430, b'tmpfs', 0)"),
    _said("clone a mount", _MOUNT, "sc(428, 428, -100, b'/', 1)"),
    _said(
        "change the attributes of a mount",
        _MOUNT,
        "sc(442, 442, -100, b'/', 0, struct.pack('QQQQ', 0, 0, 0, 0), 32)",
    ),
    _said("change the root folder", _MOUNT, "os.chroot('/')"),
    _said(
        "break out of a changed root",
        _MOUNT,
        "os.mkdir(T + '/j'); fd = os.open('/', 0); os.chroot(T + '/j'); os.fchdir(fd)\n"
        "for _ in range(9):\n    os.chdir('..')\nos.chroot('.')",
    ),
    _opened("change what handles core dumps", "/proc/sys/kernel/core_pattern"),
    _opened("change a kernel setting", "/proc/sys/vm/swappiness"),
    _opened("change the host's name by file", "/proc/sys/kernel/hostname"),
    _said("open the emergency trigger", _SETTINGS, "os.open('/proc/sysrq-trigger', os.O_WRONLY)"),
    _said("change an interrupt", _SETTINGS, "os.open('/proc/irq/default_smp_affinity', os.O_WRONLY)"),
    _said(
        "change a setting in /sys",
        _SETTINGS,
        "os.open('/sys/kernel/mm/transparent_hugepage/enabled', os.O_WRONLY)",
    ),
    _said("write to a device through /sys", _SETTINGS, "os.open('/sys/power/state', os.O_WRONLY)"),
    _said(
        "make a control group",
        _SETTINGS,
        "d = A['cgroup'] + '/seam-attempt'\nos.mkdir(d)\nos.rmdir(d)",
    ),
    _said(
        "register a program for a kind of file",
        _SETTINGS,
        "os.open('/proc/sys/fs/binfmt_misc/register', os.O_WRONLY)",
    ),
    _said("set the host's name", _SETTINGS, "n = socket.gethostname().encode(); sc(170, 161, n, len(n))"),
    _said("stop process accounting", _SETTINGS, "sc(163, 89, 0)"),
    _said("gain by set-user-id programs", _POWER, "L.prctl(39, 0, 0, 0, 0) == 0 or 1/0"),
    _said(
        "have a capability",
        _POWER,
        _CAPABILITIES.format("CapEff"),
    ),
    _said(
        "be able to regain a capability",
        _POWER,
        _CAPABILITIES.format("CapBnd") + "\nL.prctl(39, 0, 0, 0, 0) == 0 or 1/0",
    ),
    _said("become another user", _POWER, "os.setuid(65534)"),
    _said(
        "take real-time priority",
        _POWER,
        "os.sched_setscheduler(0, 1, os.sched_param(1))\nos.sched_setscheduler(0, 0, os.sched_param(0))",
    ),
    _said("raise one's own priority", _POWER, "os.setpriority(0, 0, -5)"),
    _said("raise a hard limit", _POWER, "s, h = resource.getrlimit(7); resource.setrlimit(7, (s, h + 1))"),
    _said(
        "load a program into the kernel",
        _ATTACK,
        "sc(321, 280, 0, struct.pack('IIIII', 2, 4, 4, 1, 0) + bytes(108), 128)",
    ),
    _said(
        "measure the system",
        _ATTACK,
        "a = struct.pack('IIQ', 1, 128, 0) + bytes(112); sc(298, 241, a, 0, -1, -1, 0)",
    ),
    _said("handle page faults", _ATTACK, "sc(323, 282, 1)"),
    _said("watch the file system", _ATTACK, "sc(300, 262, 0, 0)"),
    _not_refused("load a kernel module", _ATTACK, "sc(175, 105, 0, 0, b'')"),
    _not_refused("load a kernel module by descriptor", _ATTACK, "sc(313, 273, -1, b'', 0)"),
    _not_refused("start another kernel", _ATTACK, "sc(246, 104, 0, 0, 0, 1 << 20)"),
    _not_refused("swap to a file", _ATTACK, "sc(167, 224, b'/nonexistent', 0)"),
    _not_refused("set the clock", _ATTACK, "sc(227, 112, 0, struct.pack('qq', 0, -1))"),
    _not_refused("restart the machine", _ATTACK, "sc(169, 142, 1, 2, 3, 0)"),
    _not_refused("get at ports of the processor", _ATTACK, "sc(173, 173, 0, 1, 1) if X else sys.exit(1)"),
)

RESOURCES: tuple[Attempt, ...] = (
    Attempt(
        "start more processes than allowed",
        "process-limit",
        "n = 0\n"
        "for _ in range(A['processes']):\n"
        "    try:\n"
        "        p = os.fork()\n"
        "    except OSError:\n"
        "        break\n"
        "    if p == 0:\n"
        "        time.sleep(1.5); os._exit(0)\n"
        "    n += 1\n"
        "n == A['processes'] and out()",
        "said",
        GapCode.PROCESS_LIMIT,
    ),
    _said("use more memory than allowed", "memory-limit", "b = b'x' * A['memory']", GapCode.MEMORY_LIMIT),
    _said(
        "use more memory than allowed in several processes",
        "memory-limit",
        "k = []\n"
        "for _ in range(4):\n"
        "    r, w = os.pipe(); p = os.fork()\n"
        "    if p == 0:\n"
        "        b = b'x' * (A['memory'] // 3); os.write(w, b'.'); time.sleep(1.0); os._exit(0)\n"
        "    os.close(w); k.append((p, r))\n"
        "all(os.read(r, 1) == b'.' for _, r in k) or 1/0\n"
        "time.sleep(0.1)\n"
        "any(os.waitpid(p, os.WNOHANG)[0] for p, _ in k) and 1/0",
        GapCode.MEMORY_LIMIT,
    ),
    _said(
        "write a larger file than allowed",
        "file-size-limit",
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nf = open(T + '/big', 'wb'); f.seek(A['file_size']); f.write(b'x'); f.flush()",
        GapCode.OTHER_LIMITS,
    ),
    _said(
        "fill the private folder",
        "temporary-size",
        "c = bytes(1 << 20)\n"
        "for i in range(A['temporary'] // (8 << 20) + 1):\n"
        "    with open(f'{T}/fill{i}', 'wb') as f:\n"
        "        for _ in range(8):\n            f.write(c)",
        GapCode.TEMPORARY_SIZE,
    ),
    _said(
        "open more descriptors than allowed",
        "descriptor-limit",
        "k = [os.dup(0) for _ in range(A['open_files'])]",
    ),
    _said("keep a core dump", "core-dumps", "resource.getrlimit(4)[1] == 0 and 1/0"),
    _said(
        "use more processor time than allowed",
        "cpu-limit",
        "e = time.process_time() + A['cpu_time'] + 0.4\nwhile time.process_time() < e:\n    pass",
    ),
)
