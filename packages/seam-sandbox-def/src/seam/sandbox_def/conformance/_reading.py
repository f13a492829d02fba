"""Attempts to read what is hidden."""

from __future__ import annotations

from seam.sandbox_def._gaps import GapCode
from seam.sandbox_def.conformance._attempt import Attempt

_READ = "read-hidden"
_PROCESS = "read-process"


def _leaked(name: str, code: str, kind: str = _READ, gap: str = "") -> Attempt:
    return Attempt(name, kind, code, "leaked", gap)


READING: tuple[Attempt, ...] = (
    _leaked("read a private key", "print(open(H + '/.ssh/id').read())"),
    _leaked("read cloud credentials", "print(open(H + '/.aws').read())"),
    _leaked(
        "read a key through a symlink", "os.symlink(H + '/.ssh', T + '/s'); print(open(T + '/s/id').read())"
    ),
    _leaked("read a key through a symlink in the workspace", "print(open(W + '/key').read())"),
    _leaked(
        "read a key through a hard link", "os.link(H + '/.ssh/id', T + '/k'); print(open(T + '/k').read())"
    ),
    _leaked(
        "read a key through a renamed folder",
        "os.rename(H + '/.ssh', H + '/s'); print(open(H + '/s/id').read())",
    ),
    _leaked("read a key through /proc/self/root", "print(open('/proc/self/root' + H + '/.ssh/id').read())"),
    _leaked("read a key through /proc/PID/root", "print(open(f'/proc/{V}/root' + H + '/.ssh/id').read())"),
    _leaked(
        "read a key through another's working folder", "print(open(f'/proc/{V}/cwd/../home/.ssh/id').read())"
    ),
    _leaked(
        "read a key through another's descriptor", "print(open(f'/proc/{V}/fd/{A[\"secret_fd\"]}').read())"
    ),
    _leaked("map a private key", "f = open(H + '/.ssh/id'); print(mmap.mmap(f.fileno(), 0, prot=1)[:])"),
    _leaked(
        "read a key after changing its mode",
        "os.chmod(H + '/.ssh', 0o777); print(open(H + '/.ssh/id').read())",
    ),
    _leaked("copy a key by another program", "subprocess.run(['cat', H + '/.ssh/id'])"),
    _leaked("read a key by sendfile", "a = os.open(H + '/.ssh/id', 0); os.sendfile(1, a, 0, 200)"),
    _leaked(
        "read a key by file handle",
        "h = ctypes.create_string_buffer(struct.pack('Ii', 128, 0) + bytes(128)); m = ctypes.c_int()\n"
        "sc(303, 264, -100, (H + '/.ssh/id').encode(), h, ctypes.byref(m), 0)\n"
        "fd = sc(304, 265, os.open(H, 0), h, 0)\nprint(os.read(fd, 200))",
    ),
    Attempt(
        "list hidden names",
        "hidden-names",
        "'id' in os.listdir(H + '/.ssh') and out()",
        "said",
        GapCode.HIDDEN_NAMES_VISIBLE,
    ),
    Attempt(
        "look at a hidden file's facts",
        "file-facts",
        "os.stat(H + '/.ssh/id').st_size > 10 and out()",
        "said",
        GapCode.FILE_FACTS_VISIBLE,
    ),
    _leaked("read a file of the host's /tmp", "print(open(A['tmp_file']).read())", "host-tmp"),
    _leaked("read password hashes", "print(N + open('/etc/shadow').read())"),
    _leaked("read a process's environment", "print(open(f'/proc/{V}/environ').read())", _PROCESS),
    Attempt(
        "read a process's memory map", _PROCESS, "len(open(f'/proc/{V}/maps').read()) > 0 and out()", "said"
    ),
    Attempt(
        "see a process's arguments",
        "see-processes",
        "'victim' in open(f'/proc/{V}/cmdline').read() and out()",
        "said",
        GapCode.PROCESSES_VISIBLE,
    ),
    _leaked(
        "read a process's memory",
        "f = open(f'/proc/{V}/mem', 'rb'); f.seek(A['address']); print(f.read(64))",
        _PROCESS,
    ),
    _leaked(
        "read a process's memory by process_vm_readv",
        "b = ctypes.create_string_buffer(64)\n"
        "a = struct.pack('QQ', ctypes.addressof(b), 64); r = struct.pack('QQ', A['address'], 64)\n"
        "sc(310, 270, V, a, 1, r, 1, 0); print(b.raw)",
        _PROCESS,
    ),
    Attempt(
        "attach to a process",
        _PROCESS,
        "sc(101, 117, 16, V, 0, 0); os.waitpid(V, 0x40000000); sc(101, 117, 17, V, 0, 0); out()",
        "said",
    ),
    Attempt(
        "take a process's descriptor",
        _PROCESS,
        "sc(438, 438, os.pidfd_open(V), A['secret_fd'], 0); out()",
        "said",
    ),
    Attempt("compare with a process", _PROCESS, "sc(312, 272, os.getpid(), V, 1, 0, 0); out()", "said"),
    Attempt(
        "read kernel messages",
        "kernel-messages",
        "b = ctypes.create_string_buffer(4096); sc(103, 116, 3, b, 4096) > 0 and out()",
        "said",
    ),
    Attempt(
        "open the kernel's log device", "kernel-messages", "os.open('/dev/kmsg', os.O_WRONLY); out()", "said"
    ),
    Attempt("read kernel memory", "kernel-memory", "os.read(os.open('/proc/kcore', 0), 16); out()", "said"),
    Attempt(
        "open a disk",
        "devices",
        "for line in open('/proc/partitions').read().split('\\n')[2:]:\n"
        "    if line.split():\n"
        "        try:\n"
        "            os.read(os.open('/dev/' + line.split()[3], 0), 512); out()\n"
        "        except OSError:\n"
        "            pass",
        "said",
    ),
    Attempt(
        "make a device node",
        "devices",
        "os.mknod(T + '/disk', stat.S_IFBLK | 0o600, os.makedev(7, 0)); out()",
        "said",
    ),
    _leaked(
        "attach shared memory",
        "i = L.shmget(A['shm_key'], 64, 0)\nL.shmat.restype = ctypes.c_void_p\n"
        "p = L.shmat(i, None, 0o10000)\nprint(ctypes.string_at(p, 64) if i >= 0 else '')",
        "shared-memory",
    ),
    _leaked(
        "read named shared memory",
        "print(open('/dev/shm/' + A['shm_name']).read())",
        "shared-memory",
        GapCode.SHARED_MEMORY,
    ),
    Attempt(
        "open a message queue",
        "shared-memory",
        "d = L.mq_open(A['queue'].encode(), os.O_RDWR); (d if d >= 0 else 1/0) and out()",
        "said",
    ),
    Attempt(
        "use the user's key ring",
        "key-rings",
        "sc(248, 217, b'user', b'seam-attempt', b'x', 1, -4); out()",
        "said",
    ),
)
