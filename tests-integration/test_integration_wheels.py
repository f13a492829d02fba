"""Wheels in real environments: choosing implementers by pip and by deployment, and what is said where one is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from integration_environment import Environment

pytestmark = pytest.mark.xdist_group("wheels")

Make = Callable[..., Environment]

HOST = ("seam-host", "seam-tools-runtime", "seam-exec-tool")
LOCAL = (*HOST, "seam-exec-local", "seam-subprocess-local")
ACME_WORLD = (*HOST, "seam-exec-local", "acme-subprocess-simple")
ACME_EXEC = (*LOCAL, "acme-exec-direct")


def deployment(folder: Path, *, exec_use: str = "local", subprocess_use: str = "local") -> Path:
    path = folder / "seam.toml"
    path.write_text(
        f"""
[agents.default]
workspace = "."
[implement.subprocess]
use = "{subprocess_use}"
distribution = "seam-subprocess-{subprocess_use}"
[implement.exec]
use = "{exec_use}"
distribution = "{"acme-exec-direct" if exec_use == "direct" else "seam-exec-local"}"
[implement.tools]
use = "runtime"
[consume.exec-tool]
[process.journal]
use = "memory"
""".replace("seam-subprocess-acme", "acme-subprocess-simple")
    )
    return path


def call(environment: Environment, folder: Path, command: str) -> dict[str, object]:
    arguments = json.dumps({"command": command})
    ran = environment.run("seam", "call", "shell", arguments, "--yes", "--json", cwd=folder)
    assert ran.code in (0, 10), ran.err
    return ran.json()


def schema_digest(environment: Environment, folder: Path) -> object:
    ran = environment.run("seam", "schema", "--json", cwd=folder)
    assert ran.code == 0, ran.err
    return ran.json()["digest"]


@pytest.fixture(autouse=True)
def nothing_running(tmp_path: Path) -> object:
    """No process of a test's folder is left."""
    yield
    left = [
        p
        for p in psutil.process_iter(["cwd", "cmdline"])
        if str(p.info["cwd"] or "").startswith(str(tmp_path))
    ]
    assert left == []


def test_the_chosen_set_works(environment: Make, tmp_path: Path) -> None:
    local = environment(*LOCAL)
    deployment(tmp_path)
    answer = call(local, tmp_path, "echo hello; exit 3")
    assert "hello" in json.dumps(answer)
    ran = local.run("seam", "call", "shell", '{"command": "exit 3"}', "--yes", cwd=tmp_path)
    assert ran.code == 10


def test_what_is_not_installed_cannot_be_imported_and_is_not_needed(environment: Make) -> None:
    local = environment(*LOCAL)
    for absent in (
        "seam.exec_sandbox",
        "seam.sandbox_bwrap",
        "seam.jobs_local",
        "seam.journal_sqlite",
        "seam.tools_mcp",
    ):
        assert not local.imports(absent)
    assert local.imports("seam.exec_tool")


def test_the_consumer_alone_is_pending_says_what_is_missing_and_exits_with_its_own_code(
    environment: Make, tmp_path: Path
) -> None:
    alone = environment(*HOST)
    assert not alone.imports("seam.exec_local")
    assert not alone.imports("seam.subprocess_local")
    assert alone.imports("seam.exec_tool"), "a consumer needs no implementer to be imported"
    (tmp_path / "seam.toml").write_text(
        '[agents.default]\nworkspace = "."\n[implement.tools]\nuse = "runtime"\n[consume.exec-tool]\n'
        '[process.journal]\nuse = "memory"\n'
    )
    plan = alone.run("seam", "plan", cwd=tmp_path)
    assert plan.code == 4
    assert "pending" in plan.out
    assert "exec" in plan.out
    ran = alone.run("seam", "call", "shell", '{"command": "true"}', "--yes", cwd=tmp_path)
    assert ran.code == 4
    assert "exec" in ran.err


def test_a_missing_implementer_comes_with_the_line_that_installs_it(
    environment: Make, tmp_path: Path
) -> None:
    alone = environment(*HOST)
    deployment(tmp_path)
    ran = alone.run("seam", "call", "shell", '{"command": "true"}', "--yes", cwd=tmp_path)
    assert ran.code == 4
    assert "pip install seam-exec-local" in ran.err
    assert "pip install seam-subprocess-local" in ran.err


def test_a_deployment_alone_exchanges_the_executor_and_the_schema_stays(
    environment: Make, tmp_path: Path
) -> None:
    both = environment(*ACME_EXEC)
    digests: set[object] = set()
    for use, dialect in (("local", "bash"), ("direct", "sh")):
        deployment(tmp_path, exec_use=use)
        answer = call(both, tmp_path, "echo $0")
        assert f"/{dialect}" in json.dumps(answer) or f'"{dialect}' in json.dumps(answer)
        digests.add(schema_digest(both, tmp_path))
    local_only = environment(*LOCAL)
    deployment(tmp_path)
    digests.add(schema_digest(local_only, tmp_path))
    assert len(digests) == 1, "the schema depends on the executor"


def test_another_world_below_the_executor_and_the_schema_stays(environment: Make, tmp_path: Path) -> None:
    acme = environment(*ACME_WORLD)
    assert not acme.imports("seam.subprocess_local")
    deployment(tmp_path, subprocess_use="acme")
    answer = call(acme, tmp_path, "echo hello from acme")
    assert "hello from acme" in json.dumps(answer)
    assert '"level": "group"' in json.dumps(answer), "the result says what this world cannot promise"
    local = environment(*LOCAL)
    other = tmp_path / "other"
    other.mkdir()
    deployment(other)
    assert schema_digest(acme, tmp_path) == schema_digest(local, other)


def test_requirements_name_exactly_what_a_deployment_needs(environment: Make, tmp_path: Path) -> None:
    both = environment(*ACME_EXEC)
    deployment(tmp_path, exec_use="direct")
    ran = both.run("seam", "requirements", "--no-pin", cwd=tmp_path)
    assert ran.code == 0, ran.err
    named = {
        line.split(";")[0].split("=")[0].split(">")[0].strip()
        for line in ran.out.splitlines()
        if line and line[0] != "#"
    }
    assert {"acme-exec-direct", "seam-exec-tool", "seam-subprocess-local", "seam-tools-runtime"} <= named
    assert "seam-exec-local" not in named


def test_beside_the_unrelated_distribution_seam_our_wheels_work_and_doctor_names_it(
    environment: Make, tmp_path: Path
) -> None:
    beside = environment(*LOCAL, "seam")
    deployment(tmp_path)
    assert "hello" in json.dumps(call(beside, tmp_path, "echo hello"))
    doctor = beside.run("seam", "doctor", cwd=tmp_path)
    assert "seam/__init__.py" in doctor.out + doctor.err
