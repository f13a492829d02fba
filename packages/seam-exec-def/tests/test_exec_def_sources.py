"""Secrets from variables, files and commands."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from seam.exec_def import SecretRef, Secrets, SecretUnavailable, UnknownSecret
from seam.exec_def.sources import SourcesConfig, sources
from seam.kernel import Context, Kernel, NoConfig, plugin
from seam.subprocess_local import local as subprocess_local

pytestmark = pytest.mark.anyio


async def reveal(name: str, source: dict[str, object], *, runtime: bool = False, **options: object) -> str:
    """Ask for one secret that a deployment configures."""
    answers: list[SecretStr | Exception] = []

    @plugin(requires=[Secrets])
    async def asker(ctx: Context, config: NoConfig):  # type: ignore[no-untyped-def]  # a generator, as plugins are
        reference = SecretRef(secret=name)
        try:
            answers.append((await ctx[Secrets].reveal([reference]))[reference])
        except Exception as error:
            answers.append(error)
        yield

    async with Kernel() as kernel:
        if runtime:
            kernel.root.load(subprocess_local)
            await kernel.root.settle()
        kernel.root.load(sources, {"sources": {"known": source}, **options})
        kernel.root.load(asker)
        await kernel.root.settle()
    answer = answers[0]
    if isinstance(answer, Exception):
        raise answer
    return answer.get_secret_value()


async def test_from_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_TOKEN", "from the environment")
    assert await reveal("known", {"environment": "THE_TOKEN"}) == "from the environment"


async def test_a_variable_that_is_not_set() -> None:
    with pytest.raises(SecretUnavailable, match=r"THE_TOKEN.*not set") as error:
        await reveal("known", {"environment": "THE_TOKEN"})
    assert error.value.secret == "known"


async def test_from_a_file_without_its_last_newline(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("two\nlines\n")
    assert await reveal("known", {"file": str(tmp_path / "token")}) == "two\nlines"


async def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SecretUnavailable, match="No such file"):
        await reveal("known", {"file": str(tmp_path / "token")})


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"a\0b", b"x" * 200], ids=["empty", "newline", "nul", "long"]
)
async def test_a_value_that_no_environment_holds(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "token").write_bytes(content)
    with pytest.raises(SecretUnavailable) as error:
        await reveal("known", {"file": str(tmp_path / "token")}, limit=100)
    assert "xxx" not in str(error.value)


async def test_from_a_command() -> None:
    assert (
        await reveal("known", {"command": ["printf", "%s\\n", "from a program"]}, runtime=True)
        == "from a program"
    )


async def test_a_command_that_fails_does_not_show_what_it_said() -> None:
    with pytest.raises(SecretUnavailable, match="ended with 3") as error:
        await reveal("known", {"command": ["sh", "-c", "echo half-a-token; exit 3"]}, runtime=True)
    assert "half-a-token" not in str(error.value)


async def test_a_command_that_takes_too_long() -> None:
    with pytest.raises(SecretUnavailable, match=r"more than 0\.3 s"):
        await reveal("known", {"command": ["sleep", "3600"]}, runtime=True, command_timeout=0.3)


async def test_a_command_that_is_not_there() -> None:
    with pytest.raises(SecretUnavailable, match="no-such-program"):
        await reveal("known", {"command": ["no-such-program"]}, runtime=True)


async def test_a_command_where_nothing_runs_programs() -> None:
    with pytest.raises(SecretUnavailable, match="subprocess"):
        await reveal("known", {"command": ["true"]})


async def test_a_secret_without_a_source() -> None:
    with pytest.raises(UnknownSecret, match=r"implement\.secrets\.sources\.other"):
        await reveal("other", {"environment": "THE_TOKEN"})


@pytest.mark.parametrize(
    "source",
    [{}, {"environment": "A", "file": "/b"}, {"environment": ""}, {"command": []}, {"vault": "x"}],
    ids=str,
)
async def test_a_source_is_exactly_one_of_three(source: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        SourcesConfig.model_validate({"sources": {"known": source}})
