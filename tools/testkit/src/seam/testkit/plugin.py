"""pytest plugin: both event loops, a leak check after each test, skips counted against a list."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from seam.testkit import _leaks

SKIP_LIST = "allowed-skips.txt"
"""File at the root of the workspace: one permitted skip a line, `node id prefix | reason`."""


def pytest_configure(config: pytest.Config) -> None:
    """Declare the plugin's marker; let tests import the fakes that lie beside them (file names are unique in the workspace)."""
    _settle_hypothesis()
    _use_own_temporary_folder(config)
    folders = (
        place
        for name in ("packages/*/tests", "tools/*/tests", "tests-integration")
        for place in config.rootpath.glob(name)
    )
    for folder in sorted(folders):
        if str(folder) not in sys.path:
            sys.path.append(str(folder))
    config.addinivalue_line(
        "markers", "leaks(*kinds): kinds (children, threads, descriptors, temporary) this test may leave"
    )


_temporary_folder = pytest.StashKey[tempfile.TemporaryDirectory[str]]()


def _use_own_temporary_folder(config: pytest.Config) -> None:
    """A folder for this process alone: what others leave in the machine's must not count as a leak of ours."""
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())  # where `tmp_path` stays
    folder = config.stash[_temporary_folder] = tempfile.TemporaryDirectory(
        prefix="st-", ignore_cleanup_errors=True
    )
    Path(folder.name).chmod(0o711)  # tests that become another user pass through, and see nothing
    os.environ["TMPDIR"] = tempfile.tempdir = folder.name


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the folder of this process."""
    folder = config.stash.get(_temporary_folder, None)
    if folder is not None:
        tempfile.tempdir = None
        os.environ["TMPDIR"] = str(Path(folder.name).parent)
        folder.cleanup()


def _settle_hypothesis() -> None:
    """One seed for all runs, and no judgement on speed: the machine may be busy, which says nothing about the code."""
    settings.register_profile(
        "seam", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("seam")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Every async test runs on both event loops."""
    return str(request.param)


@pytest.fixture(autouse=True)
def nothing_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves a child process, thread, descriptor or temporary file."""
    if not sys.platform.startswith("linux"):
        yield
        return
    marker = request.node.get_closest_marker("leaks")
    allowed = frozenset(str(kind) for kind in marker.args) if marker else frozenset[str]()
    before = _leaks.take()
    yield
    left = _leaks.compare(before, allowed=allowed)
    if left:
        pytest.fail("the test left behind:\n  " + "\n  ".join(left), pytrace=False)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config
) -> None:
    """Name the skips that the list does not permit."""
    for node in _unlisted(terminalreporter, config.rootpath):
        terminalreporter.write_line(f"SKIP NOT LISTED in {SKIP_LIST}: {node}", red=True)


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Turn an unlisted skip into a failing run."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and exitstatus == 0 and _unlisted(reporter, session.config.rootpath):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _unlisted(reporter: pytest.TerminalReporter, root: Path) -> list[str]:
    listed = root / SKIP_LIST
    if not listed.is_file():
        return []
    permitted = [
        line.split("|", 1)[0].strip()
        for line in listed.read_text("utf-8").splitlines()
        if line.strip() and not line.startswith("#")
    ]
    skipped = [str(report.nodeid) for report in reporter.stats.get("skipped", [])]
    return [node for node in skipped if not any(node.startswith(prefix) for prefix in permitted)]
