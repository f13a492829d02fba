"""Each liar is caught, and by the checks that are meant for it alone."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import pytest
import subprocess_liars as liars

from seam.subprocess_def import SubprocessRuntime
from seam.subprocess_def.conformance import ALL_CHECKS, Check, Subject, examine

pytestmark = pytest.mark.anyio

Liar = Callable[[SubprocessRuntime], liars.Relay]

CAUGHT: dict[Liar, set[str]] = {
    liars.LeaksAChild: {
        "test_ex_018_no_shape_of_descendant_survives_the_end",
        "test_ex_018_terminate_reaches_every_shape_of_descendant",
    },
    liars.CallsDeathASuccess: {
        "test_ex_031_death_by_signal_is_no_exit_code",
        "test_ex_068_a_killed_leader_whose_child_holds_the_streams",
        "test_output_survives_death_by_signal",
    },
    liars.DeniesTruncation: {
        "test_a_cap_on_the_file_is_kept_and_told",
        "test_beyond_the_windows_the_loss_is_exact",
        "test_the_file_has_everything_up_to_its_cap",
        "test_windows_of_every_size_tell_the_truth",
    },
    liars.StealsBytes: {"test_readers_follow_without_stealing"},
    liars.EatsInput: {
        "test_ex_078_input_that_nobody_reads_is_no_error",
        "test_input_arrives_whole",
    },
    liars.SwallowsCancellation: {
        "test_a_cancelled_waiter_ends_its_wait_and_nothing_else",
        "test_ex_055_cancelling_the_owner_ends_the_tree",
    },
    liars.HangsOnInheritedPipes: {
        "test_ex_002_a_silent_holder_of_one_stream_does_not_keep_the_end_away",
    },
    liars.DisposesWithoutEnding: {
        "test_ex_008_disposal_ends_a_memory_hog",
        "test_ex_055_cancelling_the_owner_ends_the_tree",
    },
    liars.DropsEmptyArguments: {"test_many_and_odd_arguments_arrive_as_they_are"},
    liars.AddsToTheEnvironment: {"test_the_environment_is_exactly_the_specs"},
    liars.FallsBackToAnotherDirectory: {
        "test_ex_014_a_bad_working_directory_is_named",
        "test_ex_016_a_deleted_working_directory_is_never_replaced",
    },
    liars.LosesTheOrder: {"test_out_009_one_pipe_keeps_the_exact_order_of_both_streams"},
    liars.SkipsFilters: {
        "test_a_filter_that_fails_shows_nothing_and_ends_the_process",
        "test_a_secret_is_masked_wherever_it_is_cut",
        "test_each_stream_has_its_own_filter",
        "test_offsets_count_what_the_filter_let_through",
    },
    liars.KillsAtOnce: {
        "test_a_program_may_end_in_its_own_way_within_the_grace",
        "test_ex_022_a_stopped_process_is_ended",
        "test_terminate_tells_what_it_took",
    },
    liars.LeaksDescriptors: {"test_failed_starts_leak_nothing"},
    liars.BlocksTheLoop: {"test_the_event_loop_stays_free_while_output_pours"},
    liars.BoastsOfContainment: {"test_results_survive_json"},
}

COLLATERAL: dict[Liar, set[str]] = {
    liars.LeaksAChild: {"test_ex_019_setsid_in_every_form"},
    liars.StealsBytes: {"test_waiting_for_more_ends_with_the_stream"},
    liars.SwallowsCancellation: {
        "test_a_kept_survivor_can_go_on_writing",
        "test_ex_001_a_background_writer_does_not_keep_the_end_away",
        "test_ex_019_setsid_in_every_form",
        "test_ex_068_a_killed_leader_whose_child_holds_the_streams",
        "test_survivors_can_be_kept_until_disposal",
    },
    liars.KillsAtOnce: {
        "test_ex_039_ending_what_is_just_ending_never_raises",
        "test_out_007_output_that_never_ends_is_ended",
    },
    liars.BoastsOfContainment: {
        "test_ex_038_a_signal_after_the_end_reaches_nobody",
        "test_many_tasks_wait_for_one_end",
    },
    liars.FallsBackToAnotherDirectory: {
        "test_a_detached_start_that_fails_leaves_no_record",
        "test_failed_starts_leak_nothing",
    },
    liars.LosesTheOrder: {"test_a_file_can_take_the_output_of_an_owned_process"},
    liars.HangsOnInheritedPipes: {
        "test_a_kept_survivor_can_go_on_writing",
        "test_ex_001_a_background_writer_does_not_keep_the_end_away",
        "test_ex_019_setsid_in_every_form",
        "test_ex_068_a_killed_leader_whose_child_holds_the_streams",
        "test_results_survive_json",
        "test_survivors_can_be_kept_until_disposal",
    },
}
"""Further checks that the same lie breaks, since they stand on what it denies: no fault of theirs, and nothing else may mind."""

SAMPLE = {
    "test_the_exit_code_is_told",
    "test_out_008_two_streams_stay_apart",
    "test_out_006_bytes_are_kept_as_they_are",
    "test_ex_024_a_large_environment_value_is_named",
    "test_ex_011_there_is_no_controlling_terminal",
    "test_raw_pipes_talk_in_both_directions",
    "test_descriptors_carry_bytes_to_the_child",
}
"""Checks that no liar touches: they must be kept, or a check finds fault with everything."""


def _subject(liar: Liar) -> Subject:
    @asynccontextmanager
    async def opened() -> AsyncGenerator[SubprocessRuntime]:
        async with liars.lying(liar)() as runtime:
            try:
                yield runtime
            finally:
                if isinstance(runtime, liars.LeaksDescriptors | liars.LeaksAChild):
                    runtime.tidy_up()

    return Subject(liar.__name__, opened, opener="seam.subprocess_local:open_runtime")


def _fast(check: Check) -> bool:
    marks: list[pytest.Mark] = getattr(check, "pytestmark", [])
    return all(mark.name != "full" for mark in marks)


@pytest.mark.parametrize("liar", CAUGHT, ids=lambda liar: liar.__name__)
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_each_liar_is_caught_by_the_check_meant_for_it(liar: Liar) -> None:
    chosen = [check for check in ALL_CHECKS if check.__name__ in SAMPLE | CAUGHT[liar]]
    card = await examine(_subject(liar), chosen)
    assert card.names("broken") == CAUGHT[liar]
    assert card.names("kept") == SAMPLE - CAUGHT[liar]


@pytest.mark.full
@pytest.mark.timeout(900)
@pytest.mark.parametrize("liar", CAUGHT, ids=lambda liar: liar.__name__)
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_no_other_check_of_the_kit_minds(liar: Liar) -> None:
    card = await examine(_subject(liar), filter(_fast, ALL_CHECKS))
    others = {
        line.check: line.why
        for line in card.lines.values()
        if line.finding == "broken" and line.check not in CAUGHT[liar]
    }
    assert others.keys() - COLLATERAL.get(liar, set()) == set(), others


async def test_honesty_and_overrides_are_noted() -> None:
    wanted = {
        "test_the_exit_code_is_told",
        "test_the_environment_is_exactly_the_specs",
        "test_ex_024_a_large_environment_value_is_named",
    }
    subject = _subject(liars.AddsToTheEnvironment)
    subject.capabilities = subject.capabilities.model_copy(update={"exact_environment": False})
    subject.overrides = {"test_the_exit_code_is_told": "only to see it noted"}
    card = await examine(subject, [check for check in ALL_CHECKS if check.__name__ in wanted])
    assert card.names("lacking") == {"test_the_environment_is_exactly_the_specs"}
    assert card.names("overridden") == {"test_the_exit_code_is_told"}
    assert card.names("kept") == {"test_ex_024_a_large_environment_value_is_named"}


async def test_the_card_is_json_that_a_program_can_read(tmp_path: object) -> None:
    from pathlib import Path

    from seam.subprocess_def.conformance import Card

    path = Path(str(tmp_path)) / "card.json"
    card = await examine(_subject(liars.Relay), [check for check in ALL_CHECKS if check.__name__ in SAMPLE])
    card.write(path)
    assert Card.model_validate_json(path.read_bytes()).names("kept") == SAMPLE
