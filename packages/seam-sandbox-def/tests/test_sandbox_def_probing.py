"""Probing once per boot: what is believed, for how long, and whose files are not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel

from seam.sandbox_def import Circumstances, Finding, ProbeResult, Probing, Reason, verdict_folder

pytestmark = pytest.mark.anyio

RETRY = 60.0


class Config(BaseModel):
    """A runtime's configuration."""

    proc: str = "auto"


class Machine:
    """A runtime that counts how often it really probes."""

    def __init__(self, base: Path) -> None:
        self.folder = base / "kept"
        self.runner = base / "runner"
        self.runner.write_text("#!/bin/sh\n")
        self.code = base / "code"
        self.code.mkdir()
        (self.code / "runtime.py").write_text("version = 1\n")
        self.usable = True
        self.attempts = 0
        self.now = 1000.0

    def start(self, config: Config | None = None) -> Probing:
        """A new process of the same runtime."""
        given = Circumstances(
            "fake", config or Config(), (str(self.code / "runtime.py"),), lambda: (str(self.runner),)
        )
        return Probing(given, self._attempt, folder=str(self.folder), retry=RETRY, clock=lambda: self.now)

    async def _attempt(self) -> ProbeResult:
        self.attempts += 1
        findings = () if self.usable else (Finding(reason=Reason.PROBE_HUNG),)
        return ProbeResult(runtime="fake", usable=self.usable, findings=findings, seconds=self.attempts)

    def record(self) -> Path:
        """The one file that is kept."""
        (found,) = self.folder.iterdir()
        return found


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


async def test_a_boot_is_probed_once_by_all_its_processes(machine: Machine) -> None:
    first, second = machine.start(), machine.start()
    assert await first.known() == await first.known() == await second.known()
    machine.now += 1e6
    assert (await machine.start().known()).seconds == 1
    assert machine.attempts == 1
    assert machine.folder.stat().st_mode & 0o777 == 0o700
    assert machine.record().stat().st_mode & 0o777 == 0o600


def _replace_runner(machine: Machine) -> None:
    fresh = machine.runner.with_name("new")
    shutil.copy(machine.runner, fresh)
    fresh.replace(machine.runner)


def _touch_runner(machine: Machine) -> None:
    os.utime(machine.runner, (1, 1))


def _change_mode(machine: Machine) -> None:
    machine.runner.chmod(0o777)


def _remove_runner(machine: Machine) -> None:
    machine.runner.unlink()


def _update_code(machine: Machine) -> None:
    (machine.code / "runtime.py").write_text("version = 22\n")


@pytest.mark.parametrize("change", [_replace_runner, _touch_runner, _change_mode, _remove_runner])
async def test_another_runner_is_probed_at_once(machine: Machine, change: Callable[[Machine], None]) -> None:
    running = machine.start()
    await running.known()
    change(machine)
    await running.known()
    assert machine.attempts == 2
    await machine.start().known()
    assert machine.attempts == 2


async def test_another_version_of_ours_or_another_configuration_is_another_probe(machine: Machine) -> None:
    await machine.start().known()
    await machine.start(Config(proc="host")).known()
    assert machine.attempts == 2
    _update_code(machine)
    await machine.start().known()
    assert machine.attempts == 3


async def test_another_boot_is_another_probe_and_its_records_are_removed(machine: Machine) -> None:
    await machine.start().known()
    old = machine.record()
    foreign = old.with_name("another-boot" + old.name[old.name.index(".") :])
    old.rename(foreign)
    await machine.start().known()
    assert machine.attempts == 2
    assert machine.record().name == old.name


async def test_another_namespace_is_another_probe(machine: Machine) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("no unshare(1) on this machine")
    code = "from seam.sandbox_def._surroundings import surroundings; print(surroundings())"
    unshare = ("unshare", "--user", "--map-root-user", "--mount")
    here, there = (
        subprocess.run([*before, sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for before in ((), unshare)
    )
    assert here.stdout != there.stdout


@pytest.mark.parametrize(
    "text", [b"", b"{", b"\xff\0", b"[]", b'{"key":1}', b"x" * (1 << 17)], ids=lambda text: str(text[:6])
)
async def test_a_file_that_is_no_record_is_probed_over(machine: Machine, text: bytes) -> None:
    await machine.start().known()
    machine.record().write_bytes(text)
    await machine.start().known()
    assert machine.attempts == 2
    await machine.start().known()
    assert machine.attempts == 2, "the file has been mended"


async def test_a_record_for_something_else_is_not_believed(machine: Machine) -> None:
    await machine.start().known()
    other = machine.record().read_text().replace("auto", "host")
    machine.record().write_text(other)
    await machine.start().known()
    assert machine.attempts == 2


def _open_file(machine: Machine) -> None:
    machine.record().chmod(0o644)


def _open_folder(machine: Machine) -> None:
    machine.folder.chmod(0o777)


def _link_file(machine: Machine) -> None:
    record = machine.record()
    record.symlink_to(record.rename(machine.folder.parent / "elsewhere"))


def _second_name(machine: Machine) -> None:
    os.link(machine.record(), machine.folder.parent / "second")


def _link_folder(machine: Machine) -> None:
    machine.folder.rename(machine.folder.parent / "real")
    machine.folder.symlink_to("real")


def _give_away_file(machine: Machine) -> None:
    os.chown(machine.record(), 12345, 12345)


def _give_away_folder(machine: Machine) -> None:
    os.chown(machine.folder, 12345, 12345)


@pytest.mark.parametrize(
    "plant",
    [_open_file, _open_folder, _link_file, _second_name, _link_folder, _give_away_file, _give_away_folder],
)
async def test_what_another_user_could_have_written_is_not_believed(
    machine: Machine, plant: Callable[[Machine], None]
) -> None:
    if plant in (_give_away_file, _give_away_folder) and os.geteuid() != 0:
        pytest.skip("not root: no file can be given to another user")
    await machine.start().known()
    plant(machine)
    assert (await machine.start().known()).seconds == 2
    assert machine.attempts == 2


@pytest.mark.parametrize("kind", ["file", "read-only"])
async def test_where_nothing_can_be_kept_each_process_probes(machine: Machine, kind: str) -> None:
    if kind == "file":
        machine.folder.touch()
    else:
        machine.folder = Path("/proc/nothing/here")
    running = machine.start()
    await running.known()
    await running.known()
    await machine.start().known()
    assert machine.attempts == 2


async def test_a_full_disk_leaves_no_half_a_record(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "rename", full)
        await machine.start().known()
    assert list(machine.folder.iterdir()) == []


async def test_a_failure_is_believed_for_a_while_and_then_tried_again(machine: Machine) -> None:
    machine.usable = False
    running = machine.start()
    assert not (await running.known()).usable
    machine.now += RETRY - 1
    assert not (await running.known()).usable
    assert not (await machine.start().known()).usable
    assert machine.attempts == 1
    machine.usable, machine.now = True, machine.now + 2
    assert (await running.known()).usable
    assert (await machine.start().known()).usable
    assert machine.attempts == 2


async def test_a_fresh_probe_asks_nobody_and_is_remembered(machine: Machine) -> None:
    running = machine.start()
    await running.known()
    assert (await running.fresh()).seconds == 2
    assert (await running.known()).seconds == 2
    assert (await machine.start().known()).seconds == 2


def test_the_folder_is_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/run/user/7")
    assert verdict_folder(None) == "/run/user/7/seam"
    monkeypatch.setenv("XDG_RUNTIME_DIR", "relative")
    assert verdict_folder(None) == str(Path.home() / ".cache/seam")
    assert verdict_folder(Path("/srv/verdicts")) == "/srv/verdicts"
