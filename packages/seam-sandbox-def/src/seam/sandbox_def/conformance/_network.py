"""Attempts to talk to somebody outside; the policy's network is `none`."""

from __future__ import annotations

from seam.sandbox_def._gaps import GapCode
from seam.sandbox_def.conformance._attempt import Attempt

_TCP, _UDP, _UNIX = "tcp", "udp", "unix-sockets"


def _heard(name: str, code: str, kind: str, gap: str = "") -> Attempt:
    return Attempt(name, kind, code, "heard", gap)


def _said(name: str, code: str, kind: str) -> Attempt:
    return Attempt(name, kind, code, "said")


NETWORK: tuple[Attempt, ...] = (
    _heard("connect by TCP", "socket.create_connection(('127.0.0.1', A['tcp'])).sendall(N.encode())", _TCP),
    _heard(
        "connect by TCP over IPv6", "socket.create_connection(('::1', A['tcp6'])).sendall(N.encode())", _TCP
    ),
    _heard(
        "connect by MPTCP",
        "s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262); s.connect(('127.0.0.1', A['tcp'])); s.sendall(N.encode())",
        _TCP,
        GapCode.DATAGRAM_NETWORK,
    ),
    _heard(
        "send with the first packet",
        "s = socket.socket(); s.sendto(N.encode(), 0x20000000, ('127.0.0.1', A['tcp'])); time.sleep(0.05)",
        _TCP,
    ),
    _heard(
        "connect by another program",
        "subprocess.run(['bash', '-c', f'echo {N} > /dev/tcp/127.0.0.1/{A[\"tcp\"]}'])",
        _TCP,
    ),
    _heard(
        "connect to an address of the machine",
        "s = socket.create_connection((A['address_of_host'], A['tcp_any']), 2); s.sendall(N.encode())",
        _TCP,
    ),
    _heard(
        "send by UDP",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(N.encode(), ('127.0.0.1', A['udp']))",
        _UDP,
        GapCode.DATAGRAM_NETWORK,
    ),
    _heard(
        "send by UDP-Lite",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 136).sendto(N.encode(), ('127.0.0.1', A['udplite']))",
        _UDP,
        GapCode.DATAGRAM_NETWORK,
    ),
    Attempt(
        "listen by TCP",
        "listening",
        "s = socket.socket(); s.setsockopt(1, 2, 1); s.bind(('127.0.0.1', A['free'])); s.listen(); s.settimeout(2)\n"
        "c, _ = s.accept(); c.sendall(N.encode()); c.close()",
        "reached",
        GapCode.LISTENING,
    ),
    _heard(
        "connect to a socket file",
        "s = socket.socket(socket.AF_UNIX); s.connect(A['stream']); s.sendall(N.encode())",
        _UNIX,
        GapCode.UNIX_SOCKETS,
    ),
    _heard(
        "send to a datagram socket file",
        "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(N.encode(), A['datagram'])",
        _UNIX,
        GapCode.UNIX_SOCKETS,
    ),
    _heard(
        "point a socket pair at a socket file",
        "a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); a.connect(A['datagram']); a.send(N.encode())",
        _UNIX,
        GapCode.UNIX_SOCKETS,
    ),
    _heard(
        "connect to a socket file in the workspace",
        "s = socket.socket(socket.AF_UNIX); s.connect(A['ws_stream']); s.sendall(N.encode())",
        _UNIX,
        GapCode.UNIX_SOCKETS,
    ),
    _heard(
        "connect to a socket file through /proc/PID/root",
        "s = socket.socket(socket.AF_UNIX); s.connect(f'/proc/{V}/root' + A['stream']); s.sendall(N.encode())",
        _UNIX,
        GapCode.UNIX_SOCKETS,
    ),
    _heard(
        "connect to an abstract socket",
        "s = socket.socket(socket.AF_UNIX); s.connect(chr(0) + A['abstract']); s.sendall(N.encode())",
        "abstract-sockets",
        GapCode.ABSTRACT_SOCKETS,
    ),
    Attempt(
        "receive a descriptor over a socket",
        _UNIX,
        "s = socket.socket(socket.AF_UNIX); s.connect(A['giver'])\n"
        "_, fds, _, _ = socket.recv_fds(s, 1, 1); print(os.pread(fds[0], 200, 0))",
        "leaked",
        GapCode.UNIX_SOCKETS,
    ),
    Attempt(
        "make a socket file that others connect to",
        _UNIX,
        "s = socket.socket(socket.AF_UNIX); s.bind(W + '/door'); out()",
        "said",
        GapCode.UNIX_SOCKETS,
    ),
    _said("open a virtual machine socket", "socket.socket(40, socket.SOCK_STREAM); out()", "other-families"),
    _said(
        "listen to kernel events",
        "socket.socket(16, socket.SOCK_DGRAM, 15).bind((0, 1)); out()",
        "other-families",
    ),
    _said("open an audit socket", "socket.socket(16, socket.SOCK_RAW, 9); out()", "other-families"),
    _said("open a packet socket", "socket.socket(17, socket.SOCK_RAW); out()", "other-families"),
    _said(
        "open a raw socket",
        "socket.socket(2, socket.SOCK_RAW, 1).sendto(bytes(8), ('127.0.0.1', 0)); out()",
        "raw-sockets",
    ),
    _said("open a crypto socket", "socket.socket(38, socket.SOCK_SEQPACKET); out()", "other-families"),
    _said("set up io_uring", "p = ctypes.create_string_buffer(248); sc(425, 425, 4, p); out()", "io-uring"),
)
