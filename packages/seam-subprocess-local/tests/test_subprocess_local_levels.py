"""The levels below the launcher, and the cgroup beside it: the same kit, a sample of it in the fast tier."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from seam.subprocess_def import NotSupported
from seam.subprocess_def.conformance import ALL_CHECKS, Capabilities, Check, Subject, examine
from seam.subprocess_local import LocalSubprocessConfig, open_runtime

pytestmark = pytest.mark.anyio

LEVELS = {
    "server": (LocalSubprocessConfig(containment="server"), Capabilities(exact_memory=False)),
    "scan": (
        LocalSubprocessConfig(containment="scan"),
        Capabilities(
            whole_tree=False,
            host_death=False,
            exact_environment=False,
            exact_memory=False,
            killable_supervisor=False,
        ),
    ),
    "launcher+cgroup": (LocalSubprocessConfig(containment="launcher", cgroup="required"), Capabilities()),
    "server+cgroup": (
        LocalSubprocessConfig(containment="server", cgroup="required"),
        Capabilities(exact_memory=False),
    ),
}
SAMPLE = (
    "ex_001",
    "ex_003",
    "ex_018",
    "ex_020",
    "ex_022",
    "ex_052",
    "hold_the_child",
    "controlling_one",
    "found_again",
)


def _subject(level: str) -> Subject:
    config, capabilities = LEVELS[level]
    return Subject(
        level,
        lambda: open_runtime(config),
        opener="test_subprocess_local_levels:open_" + level.split("+", maxsplit=1)[0],
        capabilities=capabilities,
    )


def open_server():
    return open_runtime(LEVELS["server"][0])


def open_launcher():
    return open_runtime(LEVELS["launcher+cgroup"][0])


async def _prove(level: str, checks: Sequence[Check]) -> None:
    try:
        async with open_runtime(LEVELS[level][0]) as runtime:
            assert runtime.world_id == "local"
    except NotSupported as lack:
        pytest.skip(f"needs a writable cgroup v2: {lack}" if "cgroup" in level else str(lack))
    card = await examine(_subject(level), checks)
    assert {line.check: line.why for line in card.lines.values() if line.finding == "broken"} == {}
    assert len(card.names("kept")) >= len(checks) // 2


@pytest.mark.parametrize("level", LEVELS)
async def test_a_sample_of_the_kit_holds_on_every_level(level: str) -> None:
    await _prove(
        level,
        [one for one in ALL_CHECKS if any(word in one.__name__ for word in SAMPLE) and not _is_full(one)],
    )


@pytest.mark.full
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("level", LEVELS)
async def test_the_whole_kit_holds_on_every_level(level: str) -> None:
    await _prove(level, ALL_CHECKS)


def _is_full(check: Check) -> bool:
    marks: list[pytest.Mark] = getattr(check, "pytestmark", [])
    return any(mark.name == "full" for mark in marks)


async def test_the_level_is_a_fact_of_the_result() -> None:
    for level, (config, _) in LEVELS.items():
        try:
            async with open_runtime(config) as runtime:
                from test_subprocess_local_first_light import spec

                async with await runtime.spawn(spec("true")) as process:
                    assert process.containment.level == level
        except NotSupported:
            assert "cgroup" in level
