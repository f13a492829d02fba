"""The attack matrix, as whoever runs the tests and as an ordinary user: nothing gets through that is not a named gap."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

_HERE = Path(__file__).parent
sys.path.insert(0, str(_HERE))

import matrix_run  # noqa: E402  # a script beside this file
import ordinary_user  # noqa: E402

SEED = 5
SAMPLE = 24
"""Attempts of the fast tier; the long tier runs all."""

MOST_KINDS = {"root": 5, "user": 3}
"""Kinds of attempts that may get through all layers together."""

_SAMPLED = pytest.mark.parametrize("sample", [SAMPLE], ids=[f"{SAMPLE}-attempts-of-seed-{SEED}"])

pytestmark = [pytest.mark.xdist_group("sandbox-matrix"), pytest.mark.timeout(900)]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody may read and that is not below a shared temporary one."""
    made = Path(tempfile.mkdtemp(prefix="seam-matrix-", dir="/var/lib" if os.geteuid() == 0 else Path.home()))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def _judge(results: dict[str, list[dict[str, str]]], user: str) -> None:
    for runtime, rows in results.items():
        worked = [row for row in rows if row["state"] != "not possible here"]
        assert worked, f"no control of {runtime} worked as {user}: the matrix proves nothing here"
        through = [row for row in rows if row["state"] == "got through"]
        unnamed = [(row["attempt"], row["mode"], row["output"]) for row in through if not row["gap"]]
        assert not unnamed, f"{runtime} as {user} lets through without saying so: {unnamed}"
    kinds = {row["kind"] for row in results["bwrap"] if row["state"] == "got through"}
    assert len(kinds) <= MOST_KINDS[user], kinds


def _as_caller(folder: Path, sample: int | None) -> None:
    import anyio

    attempts = matrix_run.choose(sample, SEED)
    rows = anyio.run(matrix_run.run, attempts, matrix_run.RUNTIMES, folder / "arena")
    results = {runtime: [vars(row) for row in each] for runtime, each in rows.items()}
    _judge(results, "root" if os.geteuid() == 0 else "user")


def _as_user(folder: Path, sample: int | None) -> None:
    home = ordinary_user.home()
    python = ordinary_user.interpreter()
    if home is None:
        pytest.skip(f"no user {ordinary_user.USER}, or not root: nobody to become")
    if python is None:
        pytest.skip("no Python of this version that an ordinary user can run")
    ordinary_user.bundle(folder / "bundle", [_HERE / "matrix_run.py"])
    out = home / f"{folder.name}.json"
    chosen = [] if sample is None else ["--sample", str(sample), "--seed", str(SEED)]
    arguments = ["--out", str(out), "--base", str(home / folder.name), *chosen]
    ordinary_user.run(python, folder / "bundle", "matrix_run.py", arguments, timeout=800)
    _judge(json.loads(out.read_text("utf-8")), "user")
    out.unlink()


@_SAMPLED
def test_a_sample_as_the_caller(folder: Path, sample: int) -> None:
    _as_caller(folder, sample)


@_SAMPLED
def test_a_sample_as_an_ordinary_user(folder: Path, sample: int) -> None:
    _as_user(folder, sample)


@pytest.mark.full
def test_every_attempt_as_the_caller(folder: Path) -> None:
    _as_caller(folder, None)


@pytest.mark.full
def test_every_attempt_as_an_ordinary_user(folder: Path) -> None:
    _as_user(folder, None)
