"""`seam init`, `plan`, `requirements` and `doctor`: what is printed, and what the exit code says."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from host_distributions import consumer, implementer, install
from host_fixtures_cli import (
    COMPLETE,
    document,
    install_broken,
    install_good,
    install_runtime,
    seam,
    site_packages,
)

from seam.host._checks import environment_checks
from seam.host._inventory import Inventory
from seam.host._writing import write_new
from seam.host.cli._exits import MEANING, Exit


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where distributions are found; the working directory is the empty folder above."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SEAM_DEPLOYMENT", raising=False)
    with site_packages(tmp_path / "site-packages", monkeypatch) as folder:
        yield folder


def deploy(text: str) -> Path:
    file = Path("seam.toml").absolute()
    file.write_text(text)
    return file


def test_help_names_every_command_and_exit_code() -> None:
    shown = seam("--help").stdout
    for command in (
        "init",
        "plan",
        "schema",
        "requirements",
        "doctor",
        "graph",
        "call",
        "serve",
        "policy",
        "journal",
    ):
        assert f"\n  {command} " in shown
        assert "Example: seam " in _help_of(command)
    for code, text in MEANING.items():
        assert f"{code.value}  {text}" in shown
    assert set(MEANING) == set(Exit)


def _help_of(command: str) -> str:
    if command == "journal":
        return "".join(
            seam("journal", name, "--help").stdout for name in ("list", "show", "verify", "export", "tail")
        )
    if command == "policy":
        return seam("policy", "explain", "--help").stdout
    return seam(command, "--help").stdout


# plan


def test_a_complete_deployment_is_planned_with_who_provides_what(site: Path) -> None:
    install_runtime(site)
    deploy(COMPLETE)
    result = seam("plan")
    assert result.exit_code == Exit.DONE
    assert "fake of fake-shell 1.0" in result.stdout
    assert "complete" in result.stdout
    rows = document(seam("plan", "--json"))
    assert rows["complete"] is True


def test_a_consumer_without_an_implementer_is_pending_and_says_what_to_add(site: Path) -> None:
    install_runtime(site)
    deploy(COMPLETE.replace('[implement.exec]\nuse = "fake"\n', ""))
    result = seam("plan")
    assert result.exit_code == Exit.INCOMPLETE
    assert "pending" in result.stdout
    assert "consume.shell-tool (seam.toml:9)" in result.stdout
    assert "needs 'exec', and no row provides it" in result.stdout
    assert 'add [implement.exec] with use = "fake" (fake-shell 1.0)' in result.stdout


def test_where_nothing_installed_implements_it_no_name_is_guessed(site: Path) -> None:
    install_runtime(site, shell=False)
    deploy(COMPLETE.replace('[implement.exec]\nuse = "fake"\n', ""))
    result = seam("plan")
    assert result.exit_code == Exit.INCOMPLETE
    assert "install a distribution that implements it; nothing installed does" in result.stdout
    assert "pip install" not in result.stdout


def test_an_optional_row_that_cannot_be_had_is_left_out_and_said(site: Path) -> None:
    install_runtime(site)
    deploy(f"{COMPLETE}[consume.gone]\noptional = true\ndistribution = 'acme-gone'\n")
    result = seam("plan")
    assert result.exit_code == Exit.DONE
    assert "left out" in result.stdout
    assert "pip install acme-gone" in result.stdout


def test_a_misspelt_option_is_named_with_its_line(site: Path) -> None:
    install_runtime(site)
    deploy(COMPLETE.replace("path =", "pth ="))
    result = seam("plan")
    assert result.exit_code == Exit.INCOMPLETE
    assert "process.journal.pth (seam.toml:6)" in result.stdout
    assert "did you mean 'path'?" in result.stdout


def test_a_realm_is_planned_of_its_own(site: Path) -> None:
    install_runtime(site)
    deploy(f'{COMPLETE}[agents.guest]\nworkspace = "."\n[agents.guest.implement.exec]\nuse = "gone"\n')
    result = seam("plan")
    assert result.exit_code == Exit.INCOMPLETE
    assert "agents.guest.implement.exec" in result.stdout
    assert "installed for 'exec': fake (fake-shell 1.0)" in result.stdout


def test_what_lives_as_long_as_the_process_cannot_stand_on_a_generation(site: Path) -> None:
    install_runtime(site)
    deploy(f"{COMPLETE}[process.serve.shell-tool]\n")
    result = seam("plan")
    assert result.exit_code == Exit.INCOMPLETE
    assert "process.serve.shell-tool (seam.toml:12)" in result.stdout
    assert "lives as long as the process and needs 'exec', but [implement.exec] is exchanged" in result.stdout
    assert "choose it under [process.exec]" in result.stdout


def test_tool_files_are_named_and_not_executed(site: Path) -> None:
    install_runtime(site)
    deploy(COMPLETE)
    Path("tools").mkdir()
    Path("tools/boom.py").write_text("raise SystemExit('executed')\n")
    result = seam("plan")
    assert result.exit_code == Exit.DONE
    assert "tools/boom.py is loaded when the deployment starts" in result.stdout


def test_a_journal_that_cannot_be_had_is_a_row_like_any_other(site: Path) -> None:
    deploy(COMPLETE)
    result = seam("journal", "list", "--json")
    assert result.exit_code == Exit.INCOMPLETE
    error = document(result)["error"]
    assert "PROVIDER_MISSING" in str(error)
    assert "process.journal" in str(error)


def test_a_deployment_without_tools_or_journal_is_not_complete(site: Path) -> None:
    install_good(site)
    deploy('[agents.default]\nworkspace = "."\n[consume.good]\n')
    result = seam("plan")
    assert result.exit_code == Exit.INCOMPLETE
    assert "nothing provides `tools`" in result.stdout
    assert "nothing provides `journal`" in result.stdout


def test_ke_003_a_broken_deployment_has_an_exit_code_of_its_own(site: Path) -> None:
    deploy("[agents.default\n")
    result = seam("plan")
    assert result.exit_code == Exit.DEPLOYMENT
    assert "seam.toml:1: is not valid TOML" in result.stderr
    assert result.stdout == ""
    error = document(seam("plan", "--json"))["error"]
    assert isinstance(error, dict)
    assert error["code"] == "DEPLOYMENT_INVALID"


def test_a_missing_deployment_says_how_to_get_one(site: Path) -> None:
    result = seam("plan", "-d", "none.toml")
    assert result.exit_code == Exit.DEPLOYMENT
    assert "seam init" in result.stderr


# broken plugins


def test_ep_006_a_broken_plugin_is_named_and_the_rest_is_planned(site: Path) -> None:
    install_runtime(site)
    install_broken(site)
    deploy(f"{COMPLETE}[consume.bad]\n")
    result = seam("plan")
    assert result.exit_code == Exit.INCOMPLETE
    assert "RuntimeError: half installed" in result.stdout
    assert "host_cli_broken:bad of broken 1.0" in result.stdout
    assert "fake of fake-shell 1.0" in result.stdout


@pytest.mark.parametrize("command", ["requirements", "doctor"])
def test_ep_007_commands_that_help_to_remove_a_broken_plugin_do_not_import_it(
    site: Path, command: str
) -> None:
    install_runtime(site)
    install_broken(site)
    deploy(f"{COMPLETE}[consume.bad]\nenabled = false\n")
    result = seam(command)
    assert result.exit_code == Exit.DONE, result.output
    assert not (site / "imported").exists()


def test_ep_007_a_row_that_is_taken_out_is_not_imported(site: Path) -> None:
    install_runtime(site)
    install_broken(site)
    deploy(f"{COMPLETE}[consume.bad]\nenabled = false\n")
    result = seam("plan")
    assert result.exit_code == Exit.DONE
    assert "consume.bad is taken out by enabled = false" in result.stdout
    assert not (site / "imported").exists()


def test_ep_001_doctor_and_plan_name_an_incompatible_distribution(site: Path) -> None:
    install_runtime(site)
    install(site, "seam-kernel", "1.0")
    install(site, "late", entry_points=consumer("late", "x:late"), requires=["seam-kernel>=99"])
    deploy(f"{COMPLETE}[consume.late]\n")
    for command in ("plan", "doctor"):
        result = seam(command)
        assert "needs seam-kernel>=99, have 1.0" in result.stdout
    assert result.exit_code == Exit.FINDINGS


def test_doctor_finds_nothing_wrong_in_an_environment_that_is_in_order(site: Path) -> None:
    install_runtime(site)
    states = {check.name: check.state for check in environment_checks(Inventory.read())}
    assert "wrong" not in states.values()
    assert {"platform", "python", "namespace", "versions", "temporary folder", "open files"} <= set(states)


def test_doctor_names_left_over_metadata(site: Path) -> None:
    (site / "seam_gone-1.0.dist-info").mkdir()
    result = seam("doctor", "--json")
    assert result.exit_code == Exit.FINDINGS
    assert any("left over" in str(check) for check in _checks(result.stdout))


def _checks(text: str) -> list[object]:
    import json

    return list(json.loads(text)["checks"])


# requirements


def test_requirements_are_lines_for_pip(site: Path) -> None:
    install_runtime(site)
    deploy(f"{COMPLETE}[consume.gone]\ndistribution = 'acme-gone'\n")
    result = seam("requirements")
    assert result.exit_code == Exit.DONE
    lines = result.stdout.splitlines()
    assert lines[0].startswith("seam-host==")
    assert lines[1:] == ["acme-gone", "fake-runtime==1.5", "fake-shell==1.0", "fake-shell-tool==1.0"]
    assert seam("requirements", "--no-pin").stdout.splitlines()[2] == "fake-runtime"


def test_a_row_whose_distribution_nobody_knows_is_said_and_counts(site: Path) -> None:
    install_runtime(site)
    deploy(f"{COMPLETE}[consume.gone]\n")
    result = seam("requirements")
    assert result.exit_code == Exit.INCOMPLETE
    assert "fake-shell==1.0" in result.stdout
    assert "consumer 'gone'" in result.stderr


# init


def test_init_makes_a_complete_deployment_of_what_is_installed(site: Path) -> None:
    install_runtime(site)
    result = seam("init")
    assert result.exit_code == Exit.DONE, result.output
    written = tomllib.loads(Path("seam.toml").read_text())
    assert written["process"]["journal"] == {"use": "kept", "path": "journal.kept"}
    assert written["implement"]["exec"] == {"use": "fake"}
    assert "shell-tool" in written["consume"]
    assert seam("plan").exit_code == Exit.DONE


def test_init_writes_what_cannot_work_as_comments(site: Path) -> None:
    install_runtime(site, shell=False)
    install_broken(site)
    seam("init")
    text = Path("seam.toml").read_text()
    assert "# [consume.shell-tool]  # needs 'exec', which nothing installed implements" in text
    assert "# [consume.bad]" in text
    assert "consume" not in tomllib.loads(text)


def test_init_takes_the_choice_of_an_implementer(site: Path) -> None:
    install_runtime(site)
    install(site, "other", entry_points=implementer("exec", "another", "host_cli_runtime:shell"))
    assert seam("init", "--use", "exec=fake").exit_code == Exit.DONE
    assert 'use = "fake"  # installed as well: another' in Path("seam.toml").read_text()
    refused = seam("init", "--force", "--use", "exec=gone")
    assert refused.exit_code == Exit.USAGE
    assert "installed: another, fake" in refused.stderr


def test_init_replaces_a_file_only_when_told_to(site: Path) -> None:
    install_runtime(site)
    deploy("# mine\n")
    assert seam("init").exit_code == Exit.ERROR
    assert Path("seam.toml").read_text() == "# mine\n"
    assert seam("init", "--force").exit_code == Exit.DONE
    assert [path.name for path in Path().iterdir() if path.is_file()] == ["seam.toml"]


def test_ke_003_a_write_that_is_cut_off_leaves_the_old_file_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "seam.toml"
    file.write_text("old")

    def fails(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="No space left"):
        write_new(file, "new", replace=True)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("seam.toml", "old")]
