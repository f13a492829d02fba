"""The person at the terminal: what she is shown, and what her answers mean."""

from __future__ import annotations

import os
import signal
import unicodedata
from collections.abc import Sequence

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seam.host.cli import _approval
from seam.host.cli._approval import ApproveAll, TerminalApproval
from seam.host.cli._exits import Exit
from seam.host.cli._interrupt import run_interruptible
from seam.host.cli._live import LiveOutput
from seam.host.cli._questions import TerminalQuestions
from seam.host.cli._terminal import Terminal, TerminalClosed
from seam.host.cli._visible import printable, visible
from seam.tools_def import (
    Access,
    ApprovalRequest,
    Approve,
    Connect,
    Deny,
    Edit,
    Effects,
    Expired,
    Owner,
    Progress,
    Question,
    Read,
    ResolvedCall,
    Run,
    Widen,
    Write,
)

anyio_test = pytest.mark.anyio


class Scripted(Terminal):
    """A person with her answers in mind."""

    def __init__(self, *answers: str) -> None:
        super().__init__()
        self.answers = list(answers)
        self.said: list[str] = []

    def say(self, text: str, style: str = "") -> None:
        self.said.append(text)

    async def read(self, prompt: str) -> str:
        await anyio.lowlevel.checkpoint()
        self.said.append(prompt)
        if not self.answers:
            raise TerminalClosed
        return self.answers.pop(0)


def request(*rules: str, summary: str = "bash in /ws:\nrm -rf build") -> ApprovalRequest:
    resolved = ResolvedCall(
        tool="shell",
        descriptor="sha256:0",
        arguments={"command": "rm -rf build"},
        effects=Effects(kinds=frozenset({"executes"})),
        actions=(
            Run(dialect="bash", text="rm -rf build", workdir="/ws"),
            Read(path="/ws/a"),
            Write(path="/ws/b"),
            Connect(host="example.org", port=443),
            Widen(mode="full-access", why="to install it"),
        ),
        deadline=10,
        summary=summary,
    )
    return ApprovalRequest(
        approval="a1",
        call="c1",
        resolved=resolved,
        reasons=("it runs programs",),
        rules=rules,
        owner=Owner(agent="default", session="s"),
        access=Access(principal="p", platform="cli"),
    )


@pytest.fixture(autouse=True)
def a_name_and_no_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_approval, "person", lambda: "ada")
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.delenv("VISUAL", raising=False)


@anyio_test
@pytest.mark.parametrize(
    ("answers", "rules", "expected"),
    [
        (["y"], (), Approve(by="ada")),
        (["YES"], (), Approve(by="ada")),
        (["n"], (), Deny(by="ada")),
        (["n too risky"], (), Deny(by="ada", reason="too risky")),
        (["", "what", "y"], (), Approve(by="ada")),
        (["r"], ("rm in /ws",), Approve(by="ada", grant="rule", rule="rm in /ws")),
        (["r 2"], ("one", "two"), Approve(by="ada", grant="rule", rule="two")),
        (["r", "r 3", "r x", "r 1"], ("one", "two"), Approve(by="ada", grant="rule", rule="one")),
        (["r", "n"], (), Deny(by="ada")),
        (["e", '{"command": "ls"}'], (), Edit(by="ada", arguments={"command": "ls"})),
        (["e", "{no", "e", "", "y"], (), Approve(by="ada")),
        ([], (), Expired(reason="the terminal was closed before an answer")),
        (["?"], (), Expired(reason="the terminal was closed before an answer")),
    ],
)
async def test_each_answer_means_one_thing(
    answers: Sequence[str], rules: Sequence[str], expected: object
) -> None:
    assert await TerminalApproval(Scripted(*answers)).ask(request(*rules)) == expected


@anyio_test
async def test_an_edit_in_the_editor_is_what_was_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "any")
    asked = TerminalApproval(Scripted("e"), edit=lambda text: text.replace("build", "dist"))
    assert await asked.ask(request()) == Edit(by="ada", arguments={"command": "rm -rf dist"})


@anyio_test
async def test_everything_that_is_decided_about_is_shown_and_nothing_hides() -> None:
    terminal = Scripted("n")
    hidden = "rm -rf build \x1b[2K\r\u202egnp.exe\u200b"
    await TerminalApproval(terminal).ask(request("rm in /ws", summary=hidden))
    shown = "\n".join(terminal.said)
    assert "rm -rf build \\x1b[2K\\x0d\\u202egnp.exe\\u200b" in shown
    for part in (
        "run in /ws: rm -rf build",
        "read /ws/a",
        "write /ws/b",
        "connect to example.org, port 443",
        "the wider sandbox mode full-access: to install it",
        "because it runs programs",
        "rule 1: rm in /ws",
    ):
        assert part in shown


@anyio_test
async def test_two_questions_wait_for_each_other() -> None:
    terminal = Scripted("y", "n")
    answers: list[object] = []

    async def ask(approval: TerminalApproval) -> None:
        answers.append(await approval.ask(request()))

    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(ask, TerminalApproval(terminal))
    assert answers == [Approve(by="ada"), Deny(by="ada")]
    prompts = [index for index, line in enumerate(terminal.said) if line.startswith("Run it?")]
    assert terminal.said[prompts[0] + 1].strip() == "shell wants to:", (
        "the second is shown after the first was answered"
    )


@anyio_test
async def test_yes_approves_once_and_says_so() -> None:
    answer = await ApproveAll().ask(request("anything"))
    assert answer == Approve(by="ada with --yes")


@anyio_test
@pytest.mark.parametrize(
    ("question", "answers", "expected"),
    [
        (Question(text="?"), ["blue"], "blue"),
        (Question(text="?"), [""], None),
        (Question(text="?", options=("a", "b")), ["3", "2"], "b"),
        (Question(text="?", options=("a", "b")), ["1 2", "a"], "a"),
        (Question(text="?", options=("a", "b"), multiple=True), ["2, 1 2"], ["b", "a"]),
        (Question(text="?", details={"type": "object"}), ["{x", '{"x": 1}'], {"x": 1}),
        (Question(text="?"), [], None),
    ],
)
async def test_questions_are_asked_until_the_answer_fits(
    question: Question, answers: list[str], expected: object
) -> None:
    answer = await TerminalQuestions(Scripted(*answers)).ask(question)
    assert (answer.value, answer.answered) == (expected, expected is not None)


@given(st.text())
def test_nothing_that_does_not_show_reaches_the_terminal(text: str) -> None:
    for shown in (visible(text), printable(text)):
        assert all(
            letter in "\n\t" or unicodedata.category(letter) not in ("Cc", "Cf", "Cs") for letter in shown
        )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("a\r\nb\tc", "a\nb\tc"),
        ("\x1b]52;c;aGk=\x1b\\y", "y"),
        ("é漢", "é漢"),
    ],
)
def test_control_sequences_of_output_are_dropped_whole(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_a_result_does_not_repeat_what_was_live(capsys: pytest.CaptureFixture[str]) -> None:
    live = LiveOutput()
    live(Progress(call="c", kind="output", text="one\n", stream="stdout"))
    live(Progress(call="c", kind="output", text="two\n", stream="stderr"))
    live(Progress(call="c", kind="progress", text="half", done=1, total=2))
    captured = capsys.readouterr()
    assert (captured.out, captured.err.splitlines()) == ("one\n", ["two", "... half (1 of 2)"])
    assert live.rest_of("Exit code 0\none\ntwo\n[the end]") == "Exit code 0\n[the end]"
    assert live.rest_of("something else") == "something else"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_work_and_waits_for_its_end(number: signal.Signals) -> None:
    steps: list[str] = []

    async def main() -> int:
        try:
            os.kill(os.getpid(), number)
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.lowlevel.checkpoint()
                steps.append("ended")
        return 0

    code, interrupt = run_interruptible(main)
    assert (code, interrupt.signal, steps) == (128 + number, number, ["ended"])


def test_without_a_signal_the_code_is_the_works_own() -> None:
    async def main() -> int:
        await anyio.lowlevel.checkpoint()
        return Exit.REFUSED

    code, interrupt = run_interruptible(main)
    assert (code, interrupt.signal) == (Exit.REFUSED, None)


def test_an_error_of_the_work_arrives_unwrapped() -> None:
    async def main() -> int:
        await anyio.lowlevel.checkpoint()
        raise LookupError("gone")

    with pytest.raises(LookupError, match="gone"):
        run_interruptible(main)
