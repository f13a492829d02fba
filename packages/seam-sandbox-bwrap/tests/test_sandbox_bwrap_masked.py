"""Machines of which a part is really taken away (mounts of a namespace of the test's own): each a named gap or a typed reason."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

_RUN = """
import anyio, errno, json, os, sys, tempfile
from pathlib import Path
from seam.sandbox_bwrap import BwrapConfig, BwrapRuntime
from seam.sandbox_def import Policy, PathRule, SandboxUnavailable
from seam.sandbox_landlock import LandlockConfig, LandlockRuntime, try_out
from seam.subprocess_local import LocalSubprocessConfig, open_runtime

tempfile.tempdir = os.environ.get("TMPDIR")  # this one or none: Python would look for another that has room

async def main(kind, config, arena):
    said = {"ran": False, "reasons": [], "gaps": [], "features": []}
    ws = arena + "/ws"
    rules = [PathRule(path=ws, reason="test"), PathRule(path=ws + "/.rc", reason="test")]
    asked = Policy(mode="workspace-write", writable=(rules[0],), protected=(rules[1],))
    async with open_runtime(LocalSubprocessConfig()) as subprocesses:
        made = BwrapRuntime(subprocesses, BwrapConfig.model_validate_json(config)) if kind == "bwrap" else (
            LandlockRuntime(subprocesses, LandlockConfig.model_validate_json(config)))
        try:
            confined = await made.confine(("/bin/sh", "-c", "echo x > ran"), asked, cwd=ws, env={"PATH": "/bin"})
            said["gaps"] = [gap.code for gap in confined.enforcement.gaps]
            try:
                trial = await try_out(subprocesses, confined)
                said["started"] = made.read_status(confined, trial.status).started
            finally:
                said["left"] = [list(each) for each in (await made.release(confined)).left]
        except SandboxUnavailable as error:
            said["reasons"] = [finding.reason for finding in error.findings]
        said["features"] = list((await made.probe()).features)
        made.close()
    said["ran"] = os.path.exists(ws + "/ran")
    said["ws"] = sorted(os.listdir(ws))
    print(json.dumps(said))

anyio.run(main, *sys.argv[1:4])
"""

pytestmark = [
    pytest.mark.skipif(not os.access("/usr/bin/bwrap", os.X_OK), reason="no bubblewrap on this machine"),
    pytest.mark.skipif(shutil.which("unshare") is None, reason="no unshare(1) on this machine"),
]


def inside(
    script: str, arena: Path, kind: str = "bwrap", env: Mapping[str, str] | None = None, **config: object
) -> dict[str, list[object] | bool]:
    """Run a confined command where `script` (given the arena as `$1`) has changed the mounts of a namespace of its own."""
    given = {"fallback": "none", "temporary": str(arena), **config}
    if kind == "landlock":
        del given["fallback"]
    own = ("unshare", "--mount") if os.geteuid() == 0 else ("unshare", "--user", "--map-root-user", "--mount")
    command = (*own, "sh", "-ec", script + '\nshift; exec "$@"', "sh", str(arena))
    done = subprocess.run(
        (*command, sys.executable, "-c", _RUN, kind, json.dumps(given), str(arena)),
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


MASKED = "mkdir $1/none; mount --bind $1/none /proc/sys/fs; mount --bind /dev/null /proc/version"
FULL = "mkdir $1/full; mount -t tmpfs -o size=4k,nr_inodes=1 full $1/full"


def test_a_masked_proc_is_a_named_gap(arena: Path) -> None:
    said = inside(MASKED, arena)
    features = said["features"]
    assert isinstance(features, list)
    assert said["ran"], said
    assert "private-proc" not in features
    assert said["gaps"] == ["host-proc"]
    assert said["ws"] == ["ran"]


def test_a_masked_proc_is_a_typed_refusal_where_the_host_s_is_not_wanted(arena: Path) -> None:
    said = inside(MASKED, arena, proc="private")
    assert (said["ran"], said["reasons"], said["ws"]) == (False, ["masked-proc"], [])


@pytest.mark.parametrize("kind", ["bwrap", "landlock"])
def test_a_full_disk_for_records_and_private_folders_is_a_typed_refusal(arena: Path, kind: str) -> None:
    said = inside(FULL, arena, kind, temporary=f"{arena}/full")
    assert (said["ran"], said["reasons"], said["ws"]) == (False, ["no-space"], [])


@pytest.mark.parametrize("kind", ["bwrap", "landlock"])
def test_a_full_disk_for_the_self_test_is_a_typed_refusal(arena: Path, kind: str) -> None:
    said = inside(FULL, arena, kind, {"TMPDIR": f"{arena}/full"}, temporary=str(arena))
    assert (said["ran"], said["reasons"], said["ws"]) == (False, ["no-space"], [])


@pytest.mark.parametrize("kind", ["bwrap", "landlock"])
def test_a_full_disk_for_verdicts_changes_nothing(arena: Path, kind: str) -> None:
    said = inside(FULL, arena, kind, verdicts=f"{arena}/full/verdicts")
    assert said["ran"], said


def test_a_disk_that_is_full_for_mount_points_is_no_unconfined_run(arena: Path) -> None:
    # the workspace itself has no room for the mount point of a protected path that is missing
    said = inside("mount -t tmpfs -o size=4k,nr_inodes=1 full $1/ws", arena)
    assert (said["ran"], said["started"], said["ws"]) == (False, False, [])
