"""The two types, the digest, the facts: what consumers build on."""

from __future__ import annotations

from typing import cast

import pytest

from seam.exec_def import Environment, ExecRequest, ExecSpec, OutputWindow, SecretRef, UnknownSecret
from seam.exec_def.conformance._check import check
from seam.exec_def.conformance._subject import Settings
from seam.exec_def.conformance._trial import Trial

TOKEN = "tok-3f9a8c7d5e"
KEY = "-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----"
SECRETS = Settings(secrets={"token": TOKEN, "key": KEY})


@check()
async def test_execution_takes_specs_only(trial: Trial) -> None:
    request = ExecRequest(command="touch ran", workspace=str(trial.folder))
    for execute in (trial.executor.run, trial.executor.start):
        with pytest.raises(TypeError, match="resolve"):
            await execute(cast(ExecSpec, request))
    assert not (trial.folder / "ran").exists()


@check("host_view")
async def test_resolving_has_no_effect(trial: Trial) -> None:
    trial.spec("touch ran")
    assert list(trial.folder.iterdir()) == []


@check()
async def test_equal_requests_have_equal_specs_and_digests(trial: Trial) -> None:
    one, other = trial.spec("echo hi", timeout=5.0), trial.spec("echo hi", timeout=5.0)
    assert one == other
    assert one.digest == other.digest
    assert trial.spec("echo hi", timeout=6.0).digest != one.digest
    assert trial.spec("echo ho", timeout=5.0).digest != one.digest
    assert trial.spec("echo hi", timeout=5.0, variables={"A": "1"}).digest != one.digest
    assert (
        trial.spec("echo hi", timeout=5.0, output=OutputWindow(head=1, tail=1, spill=0)).digest == one.digest
    )


@check()
async def test_a_spec_survives_json_and_still_runs(trial: Trial) -> None:
    one = trial.spec("cat; exit 3", stdin=b"\x00\xff", variables={"A": "ü"})
    again = ExecSpec.model_validate_json(one.model_dump_json())
    assert again.digest == one.digest
    result = await trial.executor.run(again)
    assert (result.exit_code, result.stdout.data) == (3, b"\x00\xff")


@check()
async def test_the_spec_is_what_runs(trial: Trial) -> None:
    spec = trial.spec('echo "$0"; tr "\\0" "\\n" < /proc/$$/cmdline')
    result = await trial.executor.run(spec)
    assert result.stdout.text.splitlines()[1:] == [line for part in spec.argv for line in part.splitlines()]


@check()
async def test_the_facts_agree_with_what_is_done(trial: Trial) -> None:
    facts = trial.executor.facts
    spec = trial.spec("true")
    assert (spec.executor, spec.executor_version, spec.dialect) == (
        facts.executor,
        facts.version,
        facts.dialect,
    )
    assert spec.argv[0] == facts.shell
    result = await trial.executor.run(spec)
    assert result.sandbox.mode == spec.isolation.mode
    assert facts.confines is (result.sandbox.enforcement is not None) or spec.isolation.mode == "full-access"
    assert facts.max_timeout == 600.0


@check()
async def test_a_spec_of_another_executor_is_refused(trial: Trial) -> None:
    other = trial.spec("true").model_copy(update={"executor": "somebody-else"})
    with pytest.raises(TypeError, match="somebody-else"):
        await trial.executor.run(other)


@check("secrets", settings=SECRETS)
async def test_a_secret_reaches_the_child_and_nothing_else(trial: Trial) -> None:
    variables = {"TOKEN": SecretRef(secret="token")}
    spec = trial.spec('[ "${#TOKEN}" = 14 ] && echo "got it: $TOKEN"', variables=variables)
    assert TOKEN not in spec.model_dump_json() + spec.canonical + repr(spec)
    result = await trial.executor.run(spec)
    assert result.success
    assert TOKEN not in result.model_dump_json() + repr(result)
    assert result.stdout.text == "got it: [secret token]\n"
    assert result.stdout.masked == 1


@check("secrets", settings=SECRETS)
async def test_a_secret_is_masked_however_it_is_cut(trial: Trial) -> None:
    pieces: list[bytes] = []
    result = await trial.run(
        'for i in $(seq 0 13); do printf %s "${TOKEN:$i:1}"; sleep 0.02; done; echo; echo "$TOKEN" >&2',
        variables={"TOKEN": SecretRef(secret="token")},
        progress=lambda chunk: pieces.append(chunk.data),
    )
    assert result.stdout.text == "[secret token]\n"
    assert result.stderr is not None
    assert result.stderr.text == "[secret token]\n"
    assert TOKEN.encode() not in b"".join(pieces)


@check("secrets", settings=SECRETS)
async def test_a_secret_is_masked_before_it_is_written_to_disk(trial: Trial) -> None:
    result = await trial.run(
        'for i in $(seq 5000); do echo "$TOKEN"; done',
        variables={"TOKEN": SecretRef(secret="token")},
        output=OutputWindow(head=200, tail=200, spill=10_000_000),
    )
    assert result.stdout.masked == 5000
    assert result.stdout.total == 5000 * len("[secret token]\n")
    if trial.capabilities.host_view:
        assert result.stdout.spill_path is not None
        with open(result.stdout.spill_path, "rb") as file:
            assert file.read() == b"[secret token]\n" * 5000


@check("secrets", settings=SECRETS)
async def test_a_secret_of_several_lines_is_masked_line_by_line(trial: Trial) -> None:
    result = await trial.run('echo "$KEY" | sed -n 2p', variables={"KEY": SecretRef(secret="key")})
    assert result.stdout.text == "[secret key]\n"


@check("secrets", settings=SECRETS)
async def test_a_secret_that_nobody_knows_is_refused_by_name(trial: Trial) -> None:
    with pytest.raises(UnknownSecret) as error:
        trial.spec("true", variables={"X": SecretRef(secret="absent")})
    assert error.value.secret == "absent"


@check()
async def test_an_overlay_adds_and_takes_out(trial: Trial) -> None:
    result = await trial.run('echo "[$ADDED][$PAGER][$HOME]"', variables={"ADDED": "yes", "HOME": None})
    assert result.stdout.text == "[yes][cat][]\n"


@check()
async def test_a_replacement_starts_empty(trial: Trial) -> None:
    request = ExecRequest(
        command="/usr/bin/env",
        workspace=str(trial.folder),
        environment=Environment(mode="replace", variables={"ONLY": "this"}),
    )
    result = await trial.executor.run(trial.executor.resolve(request))
    names = {line.split("=", 1)[0] for line in result.stdout.text.splitlines()}
    assert "ONLY" in names
    assert names <= {"ONLY", "PWD", "SHLVL", "_", "TMPDIR"}
