"""The sandbox as a deployment has it: what the network was asked for is on record, a denied command asks for more through
approval, and the same files never mix confined and unconfined tools unsaid."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream
from pydantic import JsonValue

from seam.exec_tool import ShellValue
from seam.host import Host, PrepareFailed
from seam.sandbox_def import NetworkDecision
from seam.tools_def import (
    Access,
    ApprovalAnswer,
    ApprovalPort,
    ApprovalRequest,
    Approve,
    CallStarted,
    Completed,
    Deny,
    Entry,
    JournalQuery,
    JournalUnavailable,
    Noted,
    Outcome,
    Record,
)

pytestmark = pytest.mark.anyio

DEPLOYMENT = """
[agents.default]
workspace = "work"
[implement.subprocess]
use = "local"
[implement.exec]
use = "sandbox"
[implement.sandbox_runtime]
use = "RUNTIME"
[implement.sandbox_policy]
use = "policy"
partial = true
POLICY
[implement.tools]
use = "runtime"
[implement.permissions]
use = "rules"
[implement.permissions.commands]
verdict = "allow"
tool = "shell"
[implement.jobs]
use = "local"
[consume.exec-tool]
[consume.jobs-tool]
[process.journal]
use = "JOURNAL"
"""
ACCESS = Access(principal="tester", platform="tests")

# asks the proxy for each target, says what it answered, and fetches one page the plain way
CLIENT = """
import os, socket, sys
port = int(os.environ["HTTPS_PROXY"].rpartition(":")[2])
for target in sys.argv[2:]:
    with socket.create_connection(("127.0.0.1", port), 10) as s:
        s.sendall(f"CONNECT {target} HTTP/1.1\\r\\nHost: {target}\\r\\n\\r\\n".encode())
        print(target, s.recv(4096).split()[1].decode())
with socket.create_connection(("127.0.0.1", port), 10) as s:
    s.sendall(f"GET {sys.argv[1]} HTTP/1.1\\r\\nHost: x\\r\\nProxy-Connection: keep-alive\\r\\n\\r\\n".encode())
    print(b"".join(iter(lambda: s.recv(4096), b"")).decode())
"""


@pytest.fixture(params=["bwrap", "landlock"])
def runtime(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def page() -> AsyncGenerator[int]:
    """A server on loopback that answers every request with the line it was asked by. Gives its port."""

    async def serve(client: SocketStream) -> None:
        async with client:
            with suppress(anyio.EndOfStream, anyio.BrokenResourceError):  # a tunnel that asks nothing
                asked = (await client.receive()).split(b"\r\n")[0]
                await client.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + asked)

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, serve)
        yield listener.extra(SocketAttribute.local_port)
        tasks.cancel_scope.cancel()


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A folder of this machine outside every workspace and every temporary folder of a sandbox."""
    with tempfile.TemporaryDirectory(dir=Path.home(), prefix="seam-test-") as folder:
        yield Path(folder)


class Person(ApprovalPort):
    """Answers what it is asked, in order, and remembers the questions."""

    def __init__(self, *answers: ApprovalAnswer) -> None:
        self.answers = list(answers)
        self.asked: list[ApprovalRequest] = []

    async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
        self.asked.append(request)
        return self.answers.pop(0)


@asynccontextmanager
async def opened(
    folder: Path, runtime: str, policy: str = "", journal: str = "sqlite"
) -> AsyncGenerator[Host]:
    (folder / "work").mkdir(exist_ok=True)
    text = DEPLOYMENT.replace("RUNTIME", runtime).replace("POLICY", policy)
    where = f'{journal}"\npath = "journal.db' if journal == "sqlite" else journal
    (folder / "seam.toml").write_text(text.replace("JOURNAL", where))
    async with Host.open(folder / "seam.toml") as host:
        yield host


async def call(
    host: Host, tool: str, arguments: Mapping[str, JsonValue], person: Person | None = None
) -> tuple[Outcome, str]:
    """One call in a turn of its own; the outcome, and what a model reads of it."""
    async with host.turns.open("default", session="s", access=ACCESS, approval=person) as turn:
        outcome = await turn.call(tool, dict(arguments))
    return outcome, " ".join(block.text for block in outcome.content if block.kind == "text")


def allow(port: int) -> str:
    return f'network = "allow-list"\nallow = [{{ host = "localhost", ports = [{port}], private = true }}]'


def decisions_of(entries: list[Entry]) -> list[NetworkDecision]:
    notes = [entry.record for entry in entries if isinstance(entry.record, Noted)]
    return [NetworkDecision.model_validate(n.data) for n in notes if n.topic.startswith("network.")]


async def entries_of(host: Host) -> list[Entry]:
    return [entry async for entry in host.journal.query(JournalQuery())]


@pytest.mark.parametrize("background", [False, True], ids=["foreground", "background"])
async def test_every_network_decision_is_on_record_with_the_start_that_asked(
    tmp_path: Path, runtime: str, page: int, background: bool
) -> None:
    async with opened(tmp_path, runtime, allow(page)) as host:
        (tmp_path / "work/client.py").write_text(CLIENT)
        command = f"{sys.executable} client.py http://localhost:{page}/plain localhost:{page} example.org:443"
        outcome, text = await call(host, "shell", {"command": command, "background": background})
        assert outcome.kind == "completed", outcome
        if background:
            with anyio.fail_after(30):
                while "exited" not in (await call(host, "job_list", {}))[1]:
                    await anyio.sleep(0.05)
            _, text = await call(host, "job_read", {"job": "j1", "cursor": 0})
        assert f"localhost:{page} 200" in text, text
        assert "example.org:443 403" in text
        assert "GET /plain HTTP/1.1" in text
        entries = await entries_of(host)
        decisions = decisions_of(entries)
        assert [(one.permitted, one.host, one.port) for one in decisions] == [
            (True, "localhost", page),
            (False, "example.org", 443),
            (True, "localhost", page),
        ]
        assert {one.address for one in decisions if one.permitted} <= {"127.0.0.1", "::1"}
        assert isinstance(outcome, Completed)
        value = ShellValue.model_validate(outcome.value)
        assert value.sandbox is not None
        assert {one.confined for one in decisions} == {value.sandbox.confined}
        assert list(await host.journal.verify()) == []


async def test_what_cannot_be_recorded_is_not_connected(
    tmp_path: Path, runtime: str, page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path, runtime, allow(page), journal="memory") as host:
        (tmp_path / "work/client.py").write_text(CLIENT)
        journal = host.journal
        keep = type(journal).append

        async def full(self: object, turn: str, *records: Record) -> object:
            if any(isinstance(record, Noted) for record in records):
                raise JournalUnavailable("no space left")
            return await keep(journal, turn, *records)

        monkeypatch.setattr(type(journal), "append", full)
        command = f"{sys.executable} client.py http://localhost:{page}/plain localhost:{page} 2>&1"
        _, text = await call(host, "shell", {"command": command})
        assert f"localhost:{page} 403" in text, text
        assert "HTTP/1.1 403" in text
        assert decisions_of(await entries_of(host)) == []


async def test_a_denied_command_says_how_to_ask_and_approval_widens_that_call_only(
    tmp_path: Path, runtime: str, elsewhere: Path
) -> None:
    target = elsewhere / "outside.txt"
    command = f"echo kept > {target}"
    async with opened(tmp_path, runtime) as host:
        denied, text = await call(host, "shell", {"command": command})
        assert isinstance(denied, Completed)
        assert not denied.success
        assert str(target) in text
        assert "permissions" in text, text
        assert not target.exists()

        wider = {"command": command, "permissions": "full-access", "justification": "the report lies there"}
        alone, text = await call(host, "shell", wider)
        assert alone.kind == "refused", alone
        no = Person(Deny(by="person", reason="not there"))
        refused, text = await call(host, "shell", wider, no)
        assert refused.kind == "refused"
        assert "not there" in refused.reason
        assert not target.exists()

        yes = Person(Approve(by="person"))
        allowed, text = await call(host, "shell", wider, yes)
        assert isinstance(allowed, Completed)
        assert allowed.success, text
        assert target.read_text() == "kept\n"
        assert "the report lies there" in " ".join([*yes.asked[0].reasons, yes.asked[0].resolved.summary])

        again, text = await call(host, "shell", {"command": f"rm {target}"})
        assert isinstance(again, Completed)
        assert not again.success
        assert target.exists()
        started = [e.record for e in await entries_of(host) if isinstance(e.record, CallStarted)]
        assert len(started) == 3
        assert [any(action.kind == "widen" for action in record.actions) for record in started] == [
            False,
            True,
            False,
        ]


async def test_a_ceiling_forbids_a_widening_whoever_approves(tmp_path: Path, runtime: str) -> None:
    async with opened(tmp_path, runtime, 'ceiling = "workspace-write"') as host:
        person = Person(Approve(by="person"))
        wider = {"command": "true", "permissions": "full-access", "justification": "because"}
        outcome, _ = await call(host, "shell", wider, person)
        assert outcome.kind == "refused"
        assert person.asked == []
        assert "workspace-write" in outcome.reason


TOOL = '''
from seam.tools_def import effects, tool

@tool(effects=effects("writes"))
async def bare() -> str:
    """Touch this machine."""
    return "bare"
'''


async def test_confined_and_unconfined_tools_are_not_mixed_unsaid(tmp_path: Path, runtime: str) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/bare.py").write_text(TOOL)
    with pytest.raises(PrepareFailed, match="confine"):
        async with opened(tmp_path, runtime):
            raise AssertionError("published")


async def test_relative_roots_belong_to_the_workspace_of_the_call(tmp_path: Path, runtime: str) -> None:
    (tmp_path / "shared").mkdir()
    async with opened(tmp_path, runtime, 'writable = ["../shared"]') as host:
        outcome, text = await call(host, "shell", {"command": "echo x > ../shared/file && echo done"})
        assert isinstance(outcome, Completed)
        assert outcome.success, text
        assert (tmp_path / "shared/file").read_text() == "x\n"
        with anyio.fail_after(10):
            outcome, text = await call(host, "shell", {"command": "echo x > ../other"})
        assert not (tmp_path / "other").exists()
