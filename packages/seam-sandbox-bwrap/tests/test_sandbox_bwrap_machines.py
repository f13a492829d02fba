"""Machines that lack something, made by taking it away from a process: each a reason with a remedy, never a run."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Sequence

import pytest

from seam.sandbox_landlock import Message, find_launcher

_PROBE = """
import anyio, json, sys
from seam.sandbox_bwrap import BwrapConfig, BwrapRuntime
from seam.subprocess_local import LocalSubprocessConfig, open_runtime

async def main():
    async with open_runtime(LocalSubprocessConfig()) as subprocesses:
        runtime = BwrapRuntime(subprocesses, BwrapConfig.model_validate_json(sys.argv[1]))
        report = await runtime.report()
        runtime.close()
    print(json.dumps([[p.runtime, p.usable, [f.reason for f in p.findings], list(p.features)] for p in report.probes]))

anyio.run(main)
"""

pytestmark = pytest.mark.skipif(
    not os.access("/usr/bin/bwrap", os.X_OK), reason="no bubblewrap on this machine"
)


def probe(before: Sequence[str] = (), **config: object) -> dict[str, tuple[bool, list[str], list[str]]]:
    """What the probes find in a process that is started by `before`."""
    argv = (*before, sys.executable, "-c", _PROBE, json.dumps(config))
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return {name: (usable, reasons, features) for name, usable, reasons, features in json.loads(done.stdout)}


def test_sb_014_a_kernel_without_landlock() -> None:
    launcher = find_launcher("static")
    if launcher is None:
        pytest.skip("no compiled launcher in this build")
    # landlock_create_ruleset, answered as by a kernel that does not know it
    program = b"".join(
        struct.pack("<HBBI", *instruction)
        for instruction in (
            (0x20, 0, 0, 0),
            (0x15, 0, 1, 444),
            (0x06, 0, 0, 0x00050026),
            (0x06, 0, 0, 0x7FFF0000),
        )
    )
    message = Message(status=None)
    message.environment(dict(os.environ))
    reader, writer = os.pipe()
    try:
        os.write(writer, message.encode(program))
    finally:
        os.close(writer)
    argv = (
        *launcher.argv,
        str(reader),
        "--",
        sys.executable,
        "-c",
        _PROBE,
        json.dumps({"runner": "/nonexistent"}),
    )
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60, pass_fds=(reader,))
    os.close(reader)
    assert done.returncode == 0, done.stderr
    found = {name: (usable, reasons) for name, usable, reasons, _ in json.loads(done.stdout)}
    assert found == {"bwrap": (False, ["no-binary"]), "landlock": (False, ["no-landlock"])}


@pytest.mark.skipif(shutil.which("unshare") is None, reason="no unshare(1) on this machine")
def test_no_user_namespace_is_left() -> None:
    script = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'
    usable, reasons, _ = probe(
        ("unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"), fallback="none"
    )["bwrap"]
    assert not usable
    assert set(reasons) <= {"user-namespaces-exhausted", "user-namespaces-off"}, reasons
