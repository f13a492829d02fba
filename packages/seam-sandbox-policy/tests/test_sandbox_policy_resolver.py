"""What the policy decides, from configurations good and bad."""

from __future__ import annotations

import itertools
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from seam.sandbox_def import (
    MODES,
    InvalidPolicy,
    Limits,
    LinkRefused,
    Mode,
    ModeForbidden,
    PathRule,
    Policy,
    PolicyRequest,
    Widening,
    WideningRefused,
)
from seam.sandbox_policy import ConfiguredPolicy, PolicyConfig


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


def resolve(config: PolicyConfig, home: Path, ws: Path | None, **more: object) -> Policy:
    request = PolicyRequest.model_validate({"workspace": str(ws) if ws else None, **more})
    return ConfiguredPolicy(config, str(home)).resolve(request)


def test_sb_017_each_mode_permits_exactly_what_it_says(home: Path, ws: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    expected: dict[Mode, list[str]] = {
        "read-only": ["read", "read", "none"],
        "workspace-write": ["write", "read", "none"],
        "full-access": ["write", "write", "write"],
    }
    for mode in MODES:
        policy = resolve(PolicyConfig(mode=mode, unhidden=("/tmp",)), home, ws)
        seen = [policy.access_of(p) for p in (str(ws / "x"), str(outside), str(home / ".ssh/id"))]
        assert seen == expected[mode], mode


def test_the_mode_is_of_the_grant_then_the_session_then_the_deployment(home: Path, ws: Path) -> None:
    config = PolicyConfig(mode="workspace-write")
    assert resolve(config, home, ws).decided_by == "deployment"
    narrow = resolve(config, home, ws, session="read-only")
    assert (narrow.mode, narrow.decided_by) == ("read-only", "session")
    granted = resolve(config, home, ws, session="read-only", granted="full-access")
    assert (granted.mode, granted.decided_by) == ("full-access", "grant")


def test_a_session_cannot_choose_more_than_the_deployment(home: Path, ws: Path) -> None:
    with pytest.raises(ModeForbidden) as caught:
        resolve(PolicyConfig(mode="read-only"), home, ws, session="workspace-write")
    assert caught.value.ceiling == "read-only"


@pytest.mark.parametrize("mode", ["read-only", "workspace-write"])
def test_a_widening_must_be_strictly_wider(home: Path, ws: Path, mode: Mode) -> None:
    with pytest.raises(WideningRefused):
        resolve(PolicyConfig(mode="workspace-write"), home, ws, widening=Widening(mode=mode, why="please"))


def test_a_widening_never_passes_the_ceiling(home: Path, ws: Path) -> None:
    config = PolicyConfig(mode="read-only", ceiling="workspace-write")
    with pytest.raises(WideningRefused) as caught:
        resolve(config, home, ws, widening=Widening(mode="full-access", why="please"))
    assert caught.value.ceiling == "workspace-write"
    widened = resolve(config, home, ws, widening=Widening(mode="workspace-write", why="please"))
    assert (widened.mode, widened.decided_by) == ("workspace-write", "widening")
    assert resolve(config, home, ws).mode == "read-only"


def test_sb_007_a_root_given_by_a_link_holds_by_its_real_path(home: Path, ws: Path, tmp_path: Path) -> None:
    real = tmp_path / "real"
    (real / "keep").mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(real)
    policy = resolve(PolicyConfig(writable=(str(link),), protected=(f"{link}/keep",)), home, ws)
    assert policy.access_of(str(real / "b")) == "write"
    assert policy.access_of(str(real / "keep/x")) == "read"


def test_sb_019_paths_are_expanded_exactly_once(home: Path, ws: Path) -> None:
    (home / ".app/mem").mkdir(parents=True)
    (ws / ".app/x").mkdir(parents=True)
    config = PolicyConfig(writable=("~/.app", "~/.app/mem", ".app/x"))
    policy = resolve(config, home, ws)
    assert [rule.path for rule in policy.writable] == [
        str(ws),
        str(home / ".app"),
        str(home / ".app/mem"),
        str(ws / ".app/x"),
    ]
    report = ConfiguredPolicy(config, str(home)).report(str(ws))
    assert report.writable == policy.writable
    assert not resolve(PolicyConfig(mode="full-access"), home, ws).confines


def test_sb_039_a_tilde_means_home_and_nothing_else(home: Path, ws: Path) -> None:
    config = PolicyConfig(protected=("~/.bashrc", ".bashrc"))
    protected = {rule.path for rule in resolve(config, home, ws).protected}
    assert str(ws / ".bashrc") in protected
    assert not any("~" in path for path in protected)
    assert str(home / ".bashrc") not in protected, "it lies outside of every root and is read-only already"


def test_sb_002_permutations_of_the_lists_give_the_same_rulings(home: Path, tmp_path: Path) -> None:
    proj = tmp_path / "s/ws/proj"
    proj.mkdir(parents=True)
    hidden = (str(tmp_path / "s"), str(proj / "deep"), "~/.ssh")
    for order in itertools.permutations(hidden):
        config = PolicyConfig(writable=(str(proj),), readable=(str(tmp_path / "s/ws"),), hidden=order)
        policy = resolve(config, home, None)
        assert policy.access_of(str(proj / "x")) == "write"
        assert policy.access_of(str(tmp_path / "s/secret")) == "none"
        assert policy.access_of(str(proj / "deep/x")) == "none"


@pytest.mark.parametrize("root", ["/", "/tmp", "/proc", "//", "/tmp/.."])
def test_a_root_that_is_everybodys_is_refused_with_the_reason(home: Path, ws: Path, root: str) -> None:
    with pytest.raises(InvalidPolicy, match="cannot be writable"):
        resolve(PolicyConfig(writable=(root,)), home, ws)


def test_every_bad_root_is_named(home: Path, ws: Path) -> None:
    (ws / "file").touch()
    with pytest.raises(InvalidPolicy) as caught:
        resolve(PolicyConfig(writable=("missing", "file", "~other/x", "")), home, ws)
    places = [place for place, _ in caught.value.problems]  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType] - facts are objects
    assert places == ["writable[0]", "writable[1]", "writable[2]", "writable[3]"]


@pytest.mark.parametrize("name", ["new\nline", "quo'te\"s", "b\udcffad", "-rf", " ", "a:b", "$(x)", "*", "é"])
def test_roots_of_odd_names(home: Path, tmp_path: Path, name: str) -> None:
    root = tmp_path / name
    root.mkdir()
    policy = resolve(PolicyConfig(writable=(str(root),)), home, None)
    assert policy.access_of(str(root / "x")) == "write"
    assert Policy.model_validate_json(policy.model_dump_json()) == policy


def test_three_hundred_roots(home: Path, ws: Path) -> None:
    names = [f"r{i}" for i in range(300)]
    for name in names:
        (ws.parent / name).mkdir()
    policy = resolve(PolicyConfig(writable=tuple(f"../{name}" for name in names)), home, ws)
    assert len(policy.writable) == 301


def test_a_protected_symlink_is_refused(home: Path, ws: Path) -> None:
    (ws / ".git").mkdir()
    (ws / ".git/hooks").symlink_to(home)
    with pytest.raises(LinkRefused) as caught:
        resolve(PolicyConfig(), home, ws)
    assert caught.value.kind == "symlink"


def test_a_protected_file_with_a_second_name_is_refused(home: Path, ws: Path) -> None:
    (ws / ".git").mkdir()
    (ws / ".git/config").touch()
    os.link(ws / ".git/config", ws / "other")
    with pytest.raises(LinkRefused) as caught:
        resolve(PolicyConfig(), home, ws)
    assert caught.value.kind == "hard-link"


def test_a_hidden_file_with_a_second_name_is_refused(home: Path, ws: Path) -> None:
    (home / ".netrc").touch()
    os.link(home / ".netrc", ws / "mine")
    with pytest.raises(LinkRefused):
        resolve(PolicyConfig(), home, ws)


def test_sb_010_the_git_file_of_a_worktree_is_protected(home: Path, ws: Path) -> None:
    (ws / ".git").write_text("gitdir: /elsewhere\n")
    policy = resolve(PolicyConfig(), home, ws)
    assert policy.access_of(str(ws / ".git")) == "read"
    (ws / ".git").unlink()
    (ws / ".git").mkdir()
    policy = resolve(PolicyConfig(), home, ws)
    assert policy.access_of(str(ws / ".git/config")) == "read"
    assert policy.access_of(str(ws / ".git/index")) == "write"


def test_submodules_and_bare_repositories_are_protected(home: Path, ws: Path) -> None:
    (ws / ".git/modules/lib").mkdir(parents=True)
    bare = ws.parent / "bare"
    (bare / "objects").mkdir(parents=True)
    (bare / "HEAD").touch()
    policy = resolve(PolicyConfig(writable=(str(bare),)), home, ws)
    assert policy.access_of(str(ws / ".git/modules/lib/hooks/x")) == "read"
    assert policy.access_of(str(bare / "hooks/post-update")) == "read"


def test_sb_020_the_environment_of_the_host_is_protected(
    home: Path, ws: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (ws / ".venv").mkdir()
    monkeypatch.setattr(sys, "prefix", str(ws / ".venv"))
    assert resolve(PolicyConfig(), home, ws).access_of(str(ws / ".venv/bin/python")) == "read"


def test_shell_start_up_files_are_protected_where_home_is_writable(home: Path) -> None:
    policy = resolve(PolicyConfig(), home, home)
    assert policy.access_of(str(home / ".bashrc")) == "read"
    assert policy.access_of(str(home / ".cache/seam/verdict.json")) == "read"
    assert policy.access_of(str(home / ".ssh/id")) == "none"
    assert policy.access_of(str(home / "notes")) == "write"


def test_defaults_can_be_taken_out(home: Path, ws: Path) -> None:
    config = PolicyConfig(unhidden=("~/.ssh",), unprotected=(".vscode",), protect_missing=True)
    policy = resolve(config, home, ws)
    assert policy.access_of(str(home / ".ssh/id")) == "read" or str(home).startswith("/tmp")
    assert policy.access_of(str(ws / ".vscode/tasks.json")) == "write"
    bare = resolve(PolicyConfig(protect_missing=False), home, ws)
    assert bare.protected == ()


def test_lists_that_contradict_each_other_are_refused(home: Path, ws: Path) -> None:
    with pytest.raises(InvalidPolicy, match="hidden itself"):
        resolve(PolicyConfig(hidden=(str(ws),)), home, ws)


def test_a_hidden_workdir_is_refused(home: Path, ws: Path) -> None:
    (home / ".ssh").mkdir()
    with pytest.raises(InvalidPolicy, match="may not be read"):
        resolve(PolicyConfig(), home, ws, workdir=str(home / ".ssh"))


@pytest.mark.parametrize(
    "settings_",
    [
        {"mode": "full-access", "ceiling": "read-only"},
        {"session_ceiling": "full-access", "ceiling": "read-only", "mode": "read-only"},
        {"network": "allow-list"},
        {"allow": ["pypi.org"]},
        {"network": "allow-list", "allow": ["http://pypi.org"]},
        {"mode": "open"},
        {"unknown": 1},
        {"limits": {"processes": 0}},
    ],
)
def test_a_configuration_that_contradicts_itself_is_refused(settings_: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        PolicyConfig.model_validate(settings_)


def test_a_host_may_carry_its_port() -> None:
    config = PolicyConfig.model_validate({"network": "allow-list", "allow": ["pypi.org", "a.org:8443"]})
    assert [host.ports for host in config.allow] == [(443,), (8443,)]


_ROOTS = st.lists(st.sampled_from(["a", "a/b", "c"]), max_size=3, unique=True)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(
    mine=_ROOTS,
    theirs=_ROOTS,
    mode=st.sampled_from(MODES),
    parent_mode=st.sampled_from(MODES),
    widening=st.booleans(),
)
def test_a_child_is_never_wider_than_its_parent(
    tmp_path: Path, mine: list[str], theirs: list[str], mode: Mode, parent_mode: Mode, widening: bool
) -> None:
    for name in ("a/b", "c", "home"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
    roots = {"mine": mine, "theirs": theirs}
    modes: dict[str, Mode] = {"mine": mode, "theirs": parent_mode}
    configs = {
        who: PolicyConfig(
            mode=m,
            writable=tuple(str(tmp_path / r) for r in roots[who]),
            hidden=("/opt/" + who,),
            limits=Limits(processes=10 if who == "mine" else 5),
        )
        for who, m in modes.items()
    }
    parent = resolve(configs["theirs"], tmp_path / "home", None)
    asked = Widening(mode="full-access", why="w") if widening and mode != "full-access" else None
    child = resolve(configs["mine"], tmp_path / "home", None, parent=parent, widening=asked)
    order = ["none", "read", "write"]
    for path in ("a/x", "a/b/x", "c/x"):
        probe = str(tmp_path / path)
        assert order.index(child.access_of(probe)) <= order.index(parent.access_of(probe)), path
    if parent.confines:
        assert child.access_of("/opt/theirs") == "none"
        assert child.limits.processes == 5


def test_rules_carry_what_was_written(home: Path, ws: Path) -> None:
    rule = next(r for r in resolve(PolicyConfig(), home, ws).hidden if r.path == str(home / ".ssh"))
    assert rule == PathRule(path=str(home / ".ssh"), reason=rule.reason, given="~/.ssh")


def test_a_root_that_a_command_made_a_symlink_is_refused_at_the_next_call(
    home: Path, ws: Path, tmp_path: Path
) -> None:
    (ws / "build").mkdir()
    service = ConfiguredPolicy(PolicyConfig(writable=("build",)), str(home))
    asked = PolicyRequest(workspace=str(ws))
    assert service.resolve(asked).access_of(str(ws / "build/x")) == "write"
    (ws / "build").rmdir()
    (ws / "build").symlink_to(home)
    with pytest.raises(InvalidPolicy, match="lies in a writable root"):
        service.resolve(asked)
    (ws / "build").unlink()
    (tmp_path / "by-link").symlink_to(ws / "step")
    (ws / "step").symlink_to(home)
    with pytest.raises(InvalidPolicy, match="step"):
        resolve(PolicyConfig(writable=(str(tmp_path / "by-link"),)), home, ws)
    (tmp_path / "shared/project").mkdir(parents=True)
    config = PolicyConfig(writable=(str(tmp_path / "shared"),))
    resolve(config, home, tmp_path / "shared/project")
    (tmp_path / "shared/project").rmdir()
    (tmp_path / "shared/project").symlink_to(home)
    with pytest.raises(InvalidPolicy, match="workspace"):
        resolve(config, home, tmp_path / "shared/project")


def test_nothing_about_the_machine_is_remembered_between_calls(home: Path, ws: Path) -> None:
    service = ConfiguredPolicy(PolicyConfig(), str(home))
    asked = PolicyRequest(workspace=str(ws))
    first = service.resolve(asked)
    assert service.resolve(asked) is first, "nothing has changed"
    (ws / ".git").mkdir()
    (ws / ".git/hooks").symlink_to(home)
    with pytest.raises(LinkRefused):
        service.resolve(asked)
    (ws / ".git/hooks").unlink()
    (ws / ".git/config").touch()
    os.link(ws / ".git/config", ws / "second")
    with pytest.raises(LinkRefused):
        service.resolve(asked)
    (ws / "second").unlink()
    (home / ".ssh").symlink_to(ws / "keys")
    assert service.resolve(asked).access_of(str(ws / "keys/id")) == "none"
    ws.rename(ws.parent / "gone")
    with pytest.raises(InvalidPolicy):
        service.resolve(asked)


def test_overlapping_and_repeated_roots_are_one_rule_each(home: Path, ws: Path) -> None:
    (ws / "a/b").mkdir(parents=True)
    policy = resolve(PolicyConfig(writable=("a", "a/b", "a", str(ws / "a/../a"), str(ws))), home, ws)
    assert [rule.path for rule in policy.writable] == [str(ws), str(ws / "a"), str(ws / "a/b")]
