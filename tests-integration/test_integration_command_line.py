"""The command `seam` over real implementers: from a first deployment to a record of what was done."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil
import pytest
from typer.testing import CliRunner, Result

from seam.host.cli._app import app
from seam.host.cli._exits import MEANING, Exit

DEPLOYMENT = """
[agents.default]
workspace = "."
[process.journal]
use = "sqlite"
path = "journal.db"
[implement.tools]
use = "runtime"
[implement.subprocess]
use = "local"
[implement.exec]
use = "local"
[consume.exec-tool]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a deployment in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SEAM_DEPLOYMENT", raising=False)
    (tmp_path / "seam.toml").write_text(DEPLOYMENT)
    return tmp_path


def seam(*arguments: str, input: str | None = None) -> Result:  # noqa: A002 - the runner's own word
    return CliRunner().invoke(app, list(arguments), input=input, env={"COLUMNS": "200"})


def shell(command: str) -> str:
    return json.dumps({"command": command})


def start(*arguments: str, stdin: int | None = None, stdout: int | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "seam.host", *arguments]
    return subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, text=True)


def test_init_makes_a_deployment_that_works(folder: Path) -> None:
    assert seam("init", "--force").exit_code == Exit.DONE
    made = seam("plan", "--json")
    assert json.loads(made.stdout)["complete"] is True, made.stdout
    result = seam("call", "--yes", "shell", shell("echo it works"))
    assert result.exit_code == Exit.DONE, result.output
    assert "it works" in result.stdout


def test_how_a_call_ended_is_in_the_exit_code_and_in_the_record(folder: Path) -> None:
    assert seam("call", "--yes", "shell", shell("exit 3")).exit_code == Exit.UNSUCCESSFUL
    refused = seam("call", "shell", shell("echo no"))
    assert refused.exit_code == Exit.REFUSED
    assert "Refused by approval" in refused.stdout
    assert seam("call", "--yes", "shell", '{"comand": "ls"}').exit_code == Exit.REFUSED
    assert seam("call", "--yes", "nothing").exit_code == Exit.REFUSED
    assert seam("call", "--yes", "shell", "{not json").exit_code == Exit.USAGE
    assert seam("call", "--yes", "-a", "nobody", "shell", "{}").exit_code == Exit.ERROR
    turns = json.loads(seam("journal", "list", "--json").stdout)
    assert [turn["state"] for turn in turns] == ["ended"] * 4
    assert seam("journal", "verify").exit_code == Exit.DONE
    shown = seam("journal", "show", turns[0]["turn"][:14]).stdout
    for part in (
        "requested: shell",
        "answered approve",
        "with --yes",
        "started",
        "completed without success",
    ):
        assert part in shown
    refusals = seam("journal", "list", "--outcome", "refused", "--json")
    assert len(json.loads(refusals.stdout)) == 3
    exported = seam("journal", "export", "--tool", "shell", "-o", "record.jsonl")
    assert exported.exit_code == Exit.DONE
    lines = [json.loads(line) for line in (folder / "record.jsonl").read_text().splitlines()]
    assert {line["record"]["kind"] for line in lines} >= {"requested", "started", "settled"}
    assert "turn_opened" in {
        json.loads(line)["record"]["kind"] for line in seam("journal", "tail", "--json").stdout.splitlines()
    }


def test_a_turn_becomes_a_page(folder: Path) -> None:
    seam("call", "--yes", "shell", shell("echo on the page"))
    assert seam("journal", "show", "--html", "turn.html").exit_code == Exit.DONE
    assert "on the page" in (folder / "turn.html").read_text()
    assert seam("journal", "show", "turn-nothing").exit_code == Exit.ERROR


def test_doctor_says_what_confines_an_agent(folder: Path) -> None:
    bare = seam("doctor", "--sandbox")
    assert bare.exit_code == Exit.DONE
    assert "nothing confines its commands" in bare.stdout
    policy = '[implement.sandbox_policy]\nuse = "policy"\nmode = "read-only"\n'
    (folder / "seam.toml").write_text(DEPLOYMENT + policy)
    shown = seam("doctor", "--sandbox")
    assert "mode read-only" in shown.stdout
    assert "private keys: ~/.gnupg" in shown.stdout
    found = json.loads(seam("doctor", "--sandbox", "--json").stdout)
    assert [page["agent"] for page in found["sandbox"]] == ["default"]
    assert found["sandbox"][0]["policy"]["mode"] == "read-only"


def test_arguments_come_from_standard_input_and_results_as_json(folder: Path) -> None:
    result = seam("call", "--yes", "--json", "shell", "-", input=shell("printf 'a\\0b'"))
    assert result.exit_code == Exit.DONE, result.output
    document = json.loads(result.stdout)
    assert document["outcome"]["kind"] == "completed"
    assert document["turn"].startswith("turn-")


def test_a_pending_consumer_has_its_own_code_for_plan_and_call(folder: Path) -> None:
    (folder / "seam.toml").write_text(DEPLOYMENT.replace('[implement.exec]\nuse = "local"\n', ""))
    planned = seam("plan")
    assert planned.exit_code == Exit.INCOMPLETE
    assert "needs 'exec', and no row provides it" in planned.stdout
    called = seam("call", "--yes", "shell", shell("touch ran"))
    assert called.exit_code == Exit.INCOMPLETE
    assert "exec" in called.stderr
    assert not (folder / "ran").exists()


@pytest.mark.parametrize(
    "content", ["", "\0\0\0", DEPLOYMENT[: len(DEPLOYMENT) // 2 - 3]], ids=["empty", "nul", "half"]
)
def test_ke_003_a_broken_deployment_starts_nothing(folder: Path, content: str) -> None:
    (folder / "seam.toml").write_text(content)
    result = seam("call", "--yes", "shell", shell("touch ran"))
    assert result.exit_code == Exit.DEPLOYMENT
    assert "seam.toml:" in result.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["seam.toml"]


def test_ke_001_an_optional_row_that_cannot_be_had_is_left_out(folder: Path) -> None:
    gone = "[consume.gone]\noptional = true\ndistribution = 'acme-gone'\n"
    (folder / "seam.toml").write_text(DEPLOYMENT + gone)
    assert seam("call", "--yes", "shell", shell("true")).exit_code == Exit.DONE
    live = seam("doctor", "--live")
    assert "left out" in live.stdout
    (folder / "seam.toml").write_text(DEPLOYMENT + gone.replace("optional = true\n", ""))
    refused = seam("call", "--yes", "shell", shell("true"))
    assert refused.exit_code == Exit.INCOMPLETE
    assert "pip install acme-gone" in refused.stderr


def test_the_pages_about_deployments_and_the_command_line_are_true(folder: Path) -> None:
    docs = Path(__file__).parent.parent / "docs"
    first, realm, layers = re.findall(r"```toml\n(.*?)```", (docs / "deployments.md").read_text(), re.DOTALL)
    policy = '[implement.sandbox_policy]\nuse = "policy"\n'
    (folder / "seam.toml").write_text(first + policy + realm)
    assert seam("plan").exit_code == Exit.DONE, seam("plan").output
    (folder / "base.toml").write_text(first + "[consume.jobs-tool]\n")
    (folder / "team.toml").write_text("# nothing of its own\n")
    (folder / "seam.toml").write_text(layers)
    planned = json.loads(seam("plan", "--json").stdout)
    assert planned["removed"] == ["consume.jobs-tool"]
    page = (docs / "command-line.md").read_text()
    for code, text in MEANING.items():
        assert f"| {code.value} | {text} |" in page
    for command in re.findall(r"^  ([a-z]+)  ", seam("--help").stdout, re.MULTILINE):
        assert f"`seam {command}" in page


def test_the_schema_is_the_same_bytes_each_time_in_every_spelling(folder: Path) -> None:
    first = seam("schema")
    assert first.exit_code == Exit.DONE, first.output
    assert seam("schema").stdout == first.stdout
    document = json.loads(first.stdout)
    assert [tool["name"] for tool in document["tools"]] == ["shell"]
    parameters = document["tools"][0]["parameters"]
    spelt = {
        form: json.loads(seam("schema", "--format", form).stdout) for form in ("openai", "anthropic", "mcp")
    }
    assert spelt["openai"]["tools"][0]["function"]["parameters"] == parameters
    assert spelt["anthropic"]["tools"][0]["input_schema"] == parameters
    assert spelt["mcp"]["tools"][0]["inputSchema"] == parameters
    assert {found["digest"] for found in spelt.values()} == {document["digest"]}


def test_policy_is_explained_without_running_anything(folder: Path) -> None:
    result = seam("policy", "explain", "--json", "shell", shell("touch ran"))
    assert result.exit_code == Exit.REFUSED
    found: Mapping[str, object] = json.loads(result.stdout)
    assert found["verdict"] == "ask"
    assert not (folder / "ran").exists()
    assert "seam policy explain" in seam("journal", "show").stdout


def test_ctrl_c_ends_the_whole_tree_of_a_call(folder: Path) -> None:
    command = "sleep 600 & setsid sleep 601 & echo $$ > started; sleep 602"
    with start("call", "--yes", "shell", shell(command)) as process:
        deadline = time.monotonic() + 60
        while not (folder / "started").exists() or not (folder / "started").read_text().strip():
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)  # looking at a file of another process; no event tells
        tree = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "ended by SIGINT" in told
    assert len(tree) >= 3
    assert not [child for child in tree if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
    assert "cancelled" in seam("journal", "show").stdout


def test_serve_reports_reloads_and_ends_cleanly_by_a_signal(folder: Path) -> None:
    file = folder / "seam.toml"
    file.write_text(DEPLOYMENT + '[process.serve.mcp]\ntransport = "stdio"\n')
    with start("serve", "--json", stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stderr is not None
        events = _events(process)
        assert next(events)["event"] == "serving"
        outcome: Mapping[str, object] = {}
        while not outcome:  # the watch may start after the first edit: edit until one is seen
            file.write_text(
                f"{file.read_text()}[consume.gone]\n"
                if "[consume.gone]" not in file.read_text()
                else file.read_text() + "#\n"
            )
            if select.select([process.stderr], [], [], 1)[0]:
                outcome = next(events)
        assert outcome["event"] == "reload.refused"
        assert "consume.gone" in str(outcome["text"])
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
        assert process.returncode == Exit.DONE
        assert [event["event"] for event in events][-1] == "stopped"


def _events(process: subprocess.Popen[str]) -> Iterator[Mapping[str, object]]:
    assert process.stderr is not None
    for line in process.stderr:
        yield json.loads(line)


def test_serve_without_a_door_says_so(folder: Path) -> None:
    result = seam("serve")
    assert result.exit_code == Exit.INCOMPLETE
    assert "[process.serve.NAME]" in result.stderr


def test_a_person_at_a_terminal_is_asked_and_sees_the_output(folder: Path) -> None:
    controller, terminal = pty.openpty()
    try:
        arguments = [
            sys.executable,
            "-m",
            "seam.host",
            "call",
            "shell",
            shell("echo from the command; exit 4"),
        ]
        with subprocess.Popen(arguments, stdin=terminal, stdout=terminal, stderr=terminal) as process:
            os.close(terminal)
            shown = _until(controller, "Run it?")
            os.write(controller, b"y\n")
            shown += _until(controller, None)
            process.wait(timeout=60)
    finally:
        os.close(controller)
    assert process.returncode == Exit.UNSUCCESSFUL
    assert "run in" in shown
    assert shown.count("from the command") == 3, (
        "twice in the question, once live, and not again in the result"
    )


def _until(controller: int, marker: str | None) -> str:
    """What the terminal shows until a text appears, or until the other end is closed."""
    shown = b""
    while marker is None or marker.encode() not in shown:
        assert select.select([controller], [], [], 60)[0], shown
        try:
            piece = os.read(controller, 65536)
        except OSError:  # the last process with the terminal open is gone
            break
        if not piece:
            break
        shown += piece
    return shown.decode(errors="replace")
