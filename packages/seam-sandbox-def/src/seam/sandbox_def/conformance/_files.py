"""Attempts to write what is not the command's own."""

from __future__ import annotations

from seam.sandbox_def._gaps import GapCode
from seam.sandbox_def.conformance._attempt import Attempt

_WRITE = "write-outside"
_ENTRY = "change-folder-outside"
_META = "metadata-outside"
_PROTECTED = "write-protected"
_LINK = "write-preexisting-link"


def _made(name: str, code: str, kind: str = _WRITE) -> Attempt:
    return Attempt(name, kind, code, "made")


def _changed(name: str, code: str, kind: str = _WRITE, gap: str = "") -> Attempt:
    return Attempt(name, kind, code, "changed", gap)


def _protected(name: str, code: str) -> Attempt:
    return Attempt(name, _PROTECTED, code, "changed", GapCode.PROTECTED_INSIDE_WRITABLE)


def _meta(name: str, code: str) -> Attempt:
    return Attempt(name, _META, code, "changed", GapCode.METADATA_CHANGES)


WRITING: tuple[Attempt, ...] = (
    _made("create by absolute path", "put(O + '/new')"),
    _changed("overwrite an existing file", "put(O + '/file')"),
    _changed("append to an existing file", "put(O + '/file', mode='a')"),
    _made("create through dot-dot", "os.chdir(W); put('../outside/new')"),
    _changed("write through a symlink to a file", "os.symlink(O + '/file', T + '/l'); put(T + '/l')"),
    _made("create through a symlink to a folder", "os.symlink(O, T + '/d'); put(T + '/d/new')"),
    _made("create through a symlink in the workspace", "put(W + '/way-out/new')"),
    _changed("write through a new hard link", "os.link(O + '/file', T + '/h'); put(T + '/h')"),
    _changed(
        "write through a new hard link in the workspace", "os.link(O + '/file', W + '/h'); put(W + '/h')"
    ),
    _changed(
        "write through a hard link that was there",
        "put(W + '/linked')",
        _LINK,
        GapCode.PREEXISTING_HARD_LINKS,
    ),
    _made("link a file to the outside", "os.link(mk('x'), O + '/new')", _ENTRY),
    _made("rename to the outside", "os.rename(mk('x'), O + '/new')", _ENTRY),
    _made("rename from the workspace to the outside", "os.rename(W + '/mine', O + '/new')", _ENTRY),
    _changed("rename from the outside", "os.rename(O + '/file', T + '/y')", _ENTRY),
    _changed(
        "exchange two files",
        "sc(316, 276, -100, mk('x').encode(), -100, (O + '/file').encode(), 2)",
        _ENTRY,
    ),
    _changed("unlink", "os.unlink(O + '/file')", _ENTRY),
    _changed("rename within the outside", "os.rename(O + '/file', O + '/other')", _ENTRY),
    _changed("remove a folder", "os.rmdir(O + '/empty')", _ENTRY),
    _changed("truncate by path", "os.truncate(O + '/file', 0)", gap=GapCode.TRUNCATION),
    _changed("truncate by open", "os.open(O + '/file', os.O_RDONLY | os.O_TRUNC)", gap=GapCode.TRUNCATION),
    _changed("truncate by descriptor", "os.ftruncate(os.open(O + '/file', os.O_RDWR), 0)"),
    _made("make a folder", "os.mkdir(O + '/new')", _ENTRY),
    _made("make a fifo", "os.mkfifo(O + '/new')", _ENTRY),
    _made("make a symlink", "os.symlink('/', O + '/new')", _ENTRY),
    _made("make a socket", "socket.socket(socket.AF_UNIX).bind(O + '/new')", _ENTRY),
    _made(
        "link an unnamed file",
        "fd = os.open(O, os.O_TMPFILE | os.O_RDWR, 0o600)\n"
        "sc(265, 37, -100, f'/proc/self/fd/{fd}'.encode(), -100, (O + '/new').encode(), 0x400)",
        _ENTRY,
    ),
    _made("create through /proc/self/root", "put('/proc/self/root' + O + '/new')"),
    _made("create through /proc/PID/root", "put(f'/proc/{V}/root' + O + '/new')"),
    _made("create through /proc/PID/cwd", "put(f'/proc/{V}/cwd/new')"),
    _made(
        "create through a folder descriptor in /proc/PID/fd", "put(f'/proc/{V}/fd/{A[\"folder_fd\"]}/new')"
    ),
    _changed("write through a file descriptor in /proc/PID/fd", "put(f'/proc/{V}/fd/{A[\"file_fd\"]}')"),
    _made(
        "create through an inherited folder descriptor",
        "for fd in range(3, 256):\n"
        "    try:\n"
        "        os.open('new', os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=fd)\n"
        "    except OSError:\n"
        "        pass",
    ),
    _changed(
        "write through an inherited descriptor",
        "for fd in range(3, 256):\n"
        "    try:\n"
        "        if os.path.samestat(os.fstat(fd), os.stat(O + '/file')):\n"
        "            os.write(fd, b'x')\n"
        "    except OSError:\n"
        "        pass",
    ),
    _changed(
        "write through shared memory mapping",
        "fd = os.open(O + '/file', os.O_RDWR)\nm = mmap.mmap(fd, 1)\nm[0:1] = b'x'\nm.flush()",
    ),
    _changed(
        "copy_file_range into a file",
        "a = os.open(mk('x'), os.O_RDONLY)\nb = os.open(O + '/file', os.O_WRONLY)\nos.copy_file_range(a, b, 1)",
    ),
    _changed(
        "splice into a file",
        "r, w = os.pipe()\nos.write(w, b'x')\nb = os.open(O + '/file', os.O_WRONLY)\nos.splice(r, b, 1)",
    ),
    _changed("fallocate a hole", "L.fallocate(os.open(O + '/file', os.O_RDWR), 3, 0, 4) and 1/0"),
    _changed(
        "reopen a read-only descriptor for writing",
        "fd = os.open(O + '/file', 0); put(f'/proc/self/fd/{fd}')",
    ),
    _changed("write a shell start-up file", "put(H + '/.bashrc', mode='a')", "start-up-files"),
    _made(
        "make an autostart entry",
        "os.mkdir(H + '/.config'); os.rename(H + '/.config', O + '/new')",
        "start-up-files",
    ),
    _changed("write a file of the user's programs", "put(H + '/bin/tool', mode='a')", "start-up-files"),
)

METADATA: tuple[Attempt, ...] = (
    _meta("change the mode", "os.chmod(O + '/file', 0o777)"),
    _meta("change the mode by descriptor", "os.fchmod(os.open(O + '/file', 0), 0o777)"),
    _meta("change times", "os.utime(O + '/file', (1, 1))"),
    _meta("set an extended attribute", "os.setxattr(O + '/file', 'user.seam', b'x')"),
    _meta("change the group", "os.chown(O + '/file', -1, 1)"),
    _meta("change the owner", "os.chown(O + '/file', 1, -1)"),
    _meta("set the set-user-id bit", "os.chmod(O + '/file', 0o4755)"),
    _meta(
        "set an attribute flag", "fcntl.ioctl(os.open(O + '/file', 0), 0x40086602, struct.pack('l', 0x40))"
    ),
)

PROTECTED: tuple[Attempt, ...] = (
    _protected("write a git hook", "put(W + '/.git/hooks/pre-commit')"),
    _protected("write git configuration", "put(W + '/.git/config', mode='a')"),
    _protected("replace git configuration", "os.rename(W + '/mine', W + '/.git/config')"),
    _protected("rename the hooks away", "os.rename(W + '/.git/hooks', W + '/.git/old')"),
    _protected("rename .git away", "os.rename(W + '/.git', W + '/old'); os.mkdir(W + '/.git')"),
    _protected(
        "write configuration through a hard link", "os.link(W + '/.git/config', W + '/h'); put(W + '/h')"
    ),
    _protected(
        "write a hook through a symlink", "os.symlink(W + '/.git/hooks', W + '/s'); put(W + '/s/pre-commit')"
    ),
    _protected(
        "write a hook by descriptor of .git",
        "fd = os.open(W + '/.git', 0); put(f'/proc/self/fd/{fd}/hooks/x')",
    ),
    _protected("remove git configuration", "os.unlink(W + '/.git/config')"),
    _meta("let a hook be run", "os.chmod(W + '/.git/hooks/sample', 0o755)"),
    _protected("make an editor's configuration", "os.mkdir(W + '/.vscode'); put(W + '/.vscode/tasks.json')"),
    _protected("make an editor's configuration as a file", "put(W + '/.vscode')"),
    _protected("make an agent's configuration", "put(W + '/.mcp.json')"),
    _protected(
        "move a folder to an agent's configuration", "os.mkdir(W + '/n'); os.rename(W + '/n', W + '/.vscode')"
    ),
    _protected("write existing agent configuration", "put(W + '/.agent/settings', mode='a')"),
    _protected(
        "replace existing agent configuration", "os.rename(W + '/.agent', W + '/x'); os.mkdir(W + '/.agent')"
    ),
)
