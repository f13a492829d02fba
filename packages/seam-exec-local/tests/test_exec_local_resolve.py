"""From request to spec: filled, capped, refused by name; nothing done."""

from __future__ import annotations

import math
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr, ValidationError

from seam.exec_def import (
    BadTimeout,
    BadWorkdir,
    CommandTooLong,
    Environment,
    EnvironmentTooLarge,
    ExecRequest,
    InvalidCommand,
    InvalidEnvironment,
    InvalidRequest,
    OutputWindow,
    SecretRef,
    Secrets,
    UnknownSecret,
)
from seam.exec_local import Bare, LocalExecConfig
from seam.exec_local._environment import Environments
from seam.exec_local._resolve import Resolver, usual_limits
from seam.exec_local._shells import dialect_of
from seam.sandbox_def import Widening
from seam.subprocess_def import SpawnLimits

WORLD = {
    "PATH": "/opt/bin:/usr/bin",
    "HOME": "/home/ada",
    "LC_ALL": "C.UTF-8",
    "AWS_SECRET_ACCESS_KEY": "k",
    "BASH_ENV": "/x",
}
LIMITS = SpawnLimits(string_bytes=131_071, total_bytes=2_000_000)


class OneSecret(Secrets):
    """Knows the secret `token`."""

    def knows(self, reference: SecretRef) -> bool:
        return reference.secret == "token"

    async def reveal(self, references: object) -> dict[SecretRef, SecretStr]:
        raise AssertionError("resolving must not reveal")


def resolver(config: LocalExecConfig | None = None, *, secrets: Secrets | None = None) -> Resolver:
    """Return a resolver for bash in a world that is made up."""
    config = config or LocalExecConfig()
    return Resolver(
        config=config,
        shell="/usr/bin/bash",
        dialect=dialect_of("bash"),
        workspace="/work space",
        environments=Environments(config, WORLD, LIMITS, secrets),
        limits=LIMITS,
        wrapper=Bare(),
        version="1",
        usual=usual_limits(config),
    )


def test_everything_is_decided() -> None:
    spec = resolver().resolve(ExecRequest(command="echo hi"))
    assert spec.argv == ("/usr/bin/bash", "--noprofile", "--norc", "-c", "echo hi", "bash")
    assert spec.workdir == "/work space"
    assert spec.streams == "separate"
    assert spec.delivery == "argument"
    assert spec.limits.timeout == 120.0
    assert spec.limits.return_by == 120.0 + 2.0 + 0.5
    assert spec.environment["PATH"] == "/opt/bin:/usr/bin"
    assert spec.environment["GIT_PAGER"] == "cat"
    assert spec.isolation.mode == "full-access"


def test_the_hosts_environment_passes_only_by_the_allow_list() -> None:
    environment = resolver().resolve(ExecRequest(command="env")).environment
    assert environment["LC_ALL"] == "C.UTF-8"
    assert "AWS_SECRET_ACCESS_KEY" not in environment
    assert "BASH_ENV" not in environment


def test_an_overlay_adds_changes_and_takes_out() -> None:
    wish = Environment(variables={"PAGER": "less", "HOME": None, "NEW": "x"})
    environment = resolver().resolve(ExecRequest(command="env", environment=wish)).environment
    assert environment["PAGER"] == "less"
    assert environment["NEW"] == "x"
    assert "HOME" not in environment
    assert environment["GIT_PAGER"] == "cat"


def test_a_replacement_starts_empty() -> None:
    wish = Environment(mode="replace", variables={"ONLY": "this"})
    assert dict(resolver().resolve(ExecRequest(command="env", environment=wish)).environment) == {
        "ONLY": "this"
    }


def test_a_secret_stays_a_reference() -> None:
    wish = Environment(variables={"TOKEN": SecretRef(secret="token")})
    spec = resolver(secrets=OneSecret()).resolve(ExecRequest(command="env", environment=wish))
    assert spec.environment["TOKEN"] == SecretRef(secret="token")
    assert '"TOKEN":{"secret":"token"}' in spec.canonical


@pytest.mark.parametrize("secrets", [None, OneSecret()], ids=["no service", "no source"])
def test_an_unknown_secret_is_refused_by_name(secrets: Secrets | None) -> None:
    wish = Environment(variables={"TOKEN": SecretRef(secret="other")})
    with pytest.raises(UnknownSecret, match="'other'") as error:
        resolver(secrets=secrets).resolve(ExecRequest(command="env", environment=wish))
    assert error.value.secret == "other"


@pytest.mark.parametrize("name", ["", "A=B", "A\0", "BASH_ENV", "ENV", "BASH_FUNC_ls%%"])
def test_a_name_that_cannot_be_is_refused(name: str) -> None:
    with pytest.raises(InvalidEnvironment) as error:
        resolver().resolve(ExecRequest(command="env", environment=Environment(variables={name: "x"})))
    assert error.value.variable == name


def test_a_nul_in_a_value_is_refused() -> None:
    with pytest.raises(InvalidEnvironment, match="NUL"):
        resolver().resolve(ExecRequest(command="env", environment=Environment(variables={"A": "x\0y"})))


def test_ex_024_a_huge_variable_is_named() -> None:
    wish = Environment(variables={"BIG": "x" * 200_000})
    with pytest.raises(EnvironmentTooLarge, match="BIG") as error:
        resolver().resolve(ExecRequest(command="true", environment=wish))
    assert (error.value.variable, error.value.size, error.value.limit) == ("BIG", 200_004, 131_071)


def test_an_environment_too_large_as_a_whole_names_its_longest_variable() -> None:
    wish = Environment(variables={f"V{n}": "x" * 100_000 for n in range(20)} | {"LONGEST": "x" * 120_000})
    with pytest.raises(EnvironmentTooLarge, match="LONGEST"):
        resolver().resolve(ExecRequest(command="true", environment=wish))


@pytest.mark.parametrize("command", ["", "  \n"])
def test_an_empty_command_is_refused(command: str) -> None:
    with pytest.raises(InvalidCommand, match="empty"):
        resolver().resolve(ExecRequest(command=command))


def test_a_command_with_nul_is_refused_with_its_place() -> None:
    with pytest.raises(InvalidCommand, match="NUL") as error:
        resolver().resolve(ExecRequest(command="echo a\0b"))
    assert error.value.position == 6


def test_a_command_with_half_a_character_is_refused() -> None:
    with pytest.raises(InvalidCommand):
        resolver().resolve(ExecRequest(command="echo \ud83e"))


def test_ex_023_a_command_that_no_argument_holds_goes_through_a_descriptor() -> None:
    fits = resolver().resolve(ExecRequest(command="x" * 131_071))
    longer = resolver().resolve(ExecRequest(command="x" * 131_072))
    bytes_count = resolver().resolve(ExecRequest(command="é" * 65_536))
    assert (fits.delivery, longer.delivery, bytes_count.delivery) == ("argument", "descriptor", "descriptor")


def test_a_command_beyond_the_configured_length_is_refused() -> None:
    with pytest.raises(CommandTooLong) as error:
        resolver(LocalExecConfig(max_command=10)).resolve(ExecRequest(command="x" * 11))
    assert (error.value.size, error.value.limit) == (11, 10)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, -math.inf])
@pytest.mark.parametrize("name", ["timeout", "idle_timeout"])
def test_a_limit_of_nothing_is_refused(name: str, value: float) -> None:
    with pytest.raises(BadTimeout, match=name):
        resolver().resolve(ExecRequest.model_validate({"command": "true", name: value}))


def test_ex_071_a_huge_timeout_is_lowered_and_the_spec_says_so() -> None:
    limits = (
        resolver(LocalExecConfig(max_timeout=600.0))
        .resolve(ExecRequest(command="true", timeout=180_000.0))
        .limits
    )
    assert (limits.timeout, limits.asked_timeout) == (600.0, 180_000.0)


def test_an_endless_timeout_is_lowered_too() -> None:
    spec = resolver().resolve(ExecRequest(command="true", timeout=math.inf))
    assert (spec.limits.timeout, spec.limits.asked_timeout) == (3600.0, sys.float_info.max)
    assert "Infinity" not in spec.canonical


def test_a_timeout_within_bounds_is_kept() -> None:
    limits = resolver().resolve(ExecRequest(command="true", timeout=7.5)).limits
    assert (limits.timeout, limits.asked_timeout) == (7.5, None)


@pytest.mark.parametrize(
    ("workdir", "path"),
    [
        (None, "/w"),
        (".", "/w"),
        ("./a//b/.", "/w/a/b"),
        ("a/../b", "/w/a/../b"),
        ("c++x", "/w/c++x"),
        ("[id]", "/w/[id]"),
        ("-dash", "/w/-dash"),
        ("~tilde", "/w/~tilde"),
        ("trail ", "/w/trail "),
        ("/elsewhere/", "/elsewhere"),
        ("..hidden", "/w/..hidden"),
        ("/", "/"),
    ],
)
def test_a_workdir_is_taken_literally(workdir: str | None, path: str) -> None:
    assert resolver().resolve(ExecRequest(command="pwd", workspace="/w", workdir=workdir)).workdir == path


@pytest.mark.parametrize(
    ("workspace", "workdir", "reason"),
    [("rel", None, "relative"), ("/w", "", "empty"), ("/w", "a\0b", "nul")],
)
def test_a_workdir_that_cannot_be_is_refused(workspace: str, workdir: str | None, reason: str) -> None:
    with pytest.raises(BadWorkdir) as error:
        resolver().resolve(ExecRequest(command="pwd", workspace=workspace, workdir=workdir))
    assert error.value.reason == reason


def test_an_output_window_is_capped() -> None:
    config = LocalExecConfig(max_output=OutputWindow(head=10, tail=20, spill=30))
    wish = OutputWindow(head=100, tail=5, spill=100)
    assert resolver(config).resolve(ExecRequest(command="true", output=wish)).output == OutputWindow(
        head=10, tail=5, spill=30
    )


def test_a_wish_for_a_wider_mode_is_satisfied_already() -> None:
    wish = Widening(mode="full-access", why="needs the network")
    spec = resolver().resolve(ExecRequest(command="true", widening=wish))
    assert (spec.isolation.mode, spec.isolation.already_satisfied) == ("full-access", True)


def test_equal_requests_have_equal_digests() -> None:
    request = ExecRequest(command="make", environment=Environment(variables={"A": "1", "B": "2"}))
    turned = ExecRequest(command="make", environment=Environment(variables={"B": "2", "A": "1"}))
    assert resolver().resolve(request).digest == resolver().resolve(turned).digest


@given(
    command=st.text(max_size=50),
    workdir=st.none() | st.text(max_size=20),
    timeout=st.none() | st.floats(),
    variables=st.dictionaries(st.text(max_size=5), st.none() | st.text(max_size=10), max_size=3),
)
def test_any_request_is_decided_or_refused_in_the_contracts_words(
    command: str, workdir: str | None, timeout: float | None, variables: dict[str, str | None]
) -> None:
    wish = Environment(variables={**variables})
    request = ExecRequest(command=command, workdir=workdir, timeout=timeout, environment=wish)
    try:
        spec = resolver().resolve(request)
    except InvalidRequest as refusal:
        assert refusal.code not in ("EXEC_ERROR", "INVALID_REQUEST")
        assert refusal.retryable == "no"
    else:
        assert spec.workdir.startswith("/")
        assert 0 < spec.limits.timeout <= 3600.0
        assert spec.digest.startswith("sha256:")


@pytest.mark.parametrize(
    "options",
    [
        {"shell": "fish"},
        {"timeout": 0},
        {"timeout": "2 parsecs"},
        {"timeout": "2h"},
        {"max_timeout": math.inf},
        {"workspace": "relative"},
        {"environment": {"BASH_ENV": "/x"}},
        {"preset": {"A=B": "x"}},
        {"survivors": "maybe"},
        {"unknown": 1},
    ],
    ids=str,
)
def test_a_configuration_that_cannot_work_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        LocalExecConfig.model_validate(options)


def test_durations_may_be_written_with_units() -> None:
    assert LocalExecConfig.model_validate({"timeout": "2m", "max_timeout": "1h"}).timeout == 120.0
