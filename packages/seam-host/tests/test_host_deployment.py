"""Deployment files: layers, merging, and errors that name file, line and path."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seam.host._deployment import Deployment, DeploymentError
from seam.host._merge import read_deployment

AGENT = '[agents.default]\nworkspace = "."\n'
ROWS = AGENT + '[implement.tools]\nuse = "runtime"\n'


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def refused(path: Path) -> list[str]:
    with pytest.raises(DeploymentError) as caught:
        read_deployment(path)
    assert caught.value.code == "DEPLOYMENT_INVALID"
    return [str(problem) for problem in caught.value.problems]


def read(folder: Path, text: str) -> Deployment:
    return read_deployment(write(folder, "seam.toml", text))


def test_rows_of_all_sections_become_values(tmp_path: Path) -> None:
    deployment = read(
        tmp_path,
        """
[seam]
mixed = "the file tools are for the operator"
drain = "1m30s"

[agents.default]
workspace = "work"
call_hidden = ["secret_tool"]

[implement.exec]
use = "sandbox"
distribution = "seam-exec-sandbox"
timeout = "2m"

[consume.exec-tool]
[consume.github]
use = "mcp-client"
optional = true
command = ["github-mcp-server", "stdio"]

[process.journal]
use = "sqlite"
path = "journal.db"
[process.serve.mcp]
transport = "stdio"
""",
    )
    shell, tool, github = deployment.rows
    assert (shell.table, shell.key, shell.use, shell.group) == (
        "implement.exec",
        "exec",
        "sandbox",
        "seam.implementer.exec",
    )
    assert shell.distribution == "seam-exec-sandbox"
    assert shell.config == {"timeout": "2m"}
    assert (tool.use, tool.key, tool.group) == ("exec-tool", None, "seam.consumer")
    assert (github.name, github.use, github.optional) == ("github", "mcp-client", True)
    assert [row.table for row in deployment.process] == ["process.journal"]
    assert deployment.process[0].key == "journal"
    assert [(row.table, row.use) for row in deployment.serve] == [("process.serve.mcp", "mcp")]
    assert deployment.agents[0].workspace == str(tmp_path / "work")
    assert deployment.agents[0].call_hidden == ("secret_tool",)
    assert deployment.mixed == "the file tools are for the operator"
    assert (deployment.drain, deployment.prepare) == (90.0, 60.0)
    assert deployment.tools == tmp_path / "tools"


def test_a_later_layer_wins_key_by_key_and_each_value_knows_its_place(tmp_path: Path) -> None:
    base = write(
        tmp_path,
        "bases/base.toml",
        AGENT + '[implement.exec]\nuse = "local"\ntimeout = "2m"\n[implement.exec.limits]\nopen_files = 10\n',
    )
    deployment = read(tmp_path, '[seam]\nextends = ["bases/base.toml"]\n[implement.exec]\nuse = "sandbox"\n')
    (row,) = deployment.rows
    assert (row.use, row.config["timeout"]) == ("sandbox", "2m")
    assert deployment.layers == (base, tmp_path / "seam.toml")
    assert str(row.place("use")) == f"{tmp_path / 'seam.toml'}:4: implement.exec.use"
    assert str(row.place("timeout")) == f"{base}:5: implement.exec.timeout"
    assert str(row.place("limits.open_files")) == f"{base}:7: implement.exec.limits.open_files"
    assert deployment.agents[0].workspace == str(tmp_path / "bases"), "a path starts at the file that says it"


def test_enabled_false_removes_a_row_and_a_later_layer_brings_it_back(tmp_path: Path) -> None:
    write(tmp_path, "base.toml", ROWS + "[consume.exec-tool]\n")
    write(tmp_path, "without.toml", '[seam]\nextends = ["base.toml"]\n[consume.exec-tool]\nenabled = false\n')
    without = read_deployment(tmp_path / "without.toml")
    assert [row.table for row in without.rows] == ["implement.tools"]
    assert without.removed == ("consume.exec-tool",)
    again = read(tmp_path, '[seam]\nextends = ["without.toml"]\n[consume.exec-tool]\nenabled = true\n')
    assert [row.table for row in again.rows] == ["implement.tools", "consume.exec-tool"]


def test_a_base_that_two_layers_share_is_applied_once_below_both(tmp_path: Path) -> None:
    write(tmp_path, "base.toml", ROWS + '[implement.exec]\nuse = "local"\nshell = "bash"\n')
    write(tmp_path, "left.toml", '[seam]\nextends = ["base.toml"]\n[implement.exec]\nshell = "zsh"\n')
    write(tmp_path, "right.toml", '[seam]\nextends = ["base.toml"]\n[implement.exec]\ntimeout = 3\n')
    deployment = read(tmp_path, '[seam]\nextends = ["left.toml", "right.toml"]\n')
    row = next(row for row in deployment.rows if row.key == "exec")
    assert row.config == {"shell": "zsh", "timeout": 3}


def test_a_realm_row_lies_over_the_row_for_everybody(tmp_path: Path) -> None:
    deployment = read(
        tmp_path,
        AGENT
        + '[agents.reviewer]\nworkspace = "/srv"\n[agents.reviewer.implement.sandbox_policy]\nmode = "read-only"\n'
        + '[implement.sandbox_policy]\nuse = "policy"\nmode = "workspace-write"\nnetwork = "none"\n',
    )
    (realm,) = deployment.agents[1].realm
    assert (realm.table, realm.agent, realm.key) == (
        "agents.reviewer.implement.sandbox_policy",
        "reviewer",
        "sandbox_policy",
    )
    assert (realm.use, realm.config) == ("policy", {"mode": "read-only", "network": "none"})
    assert realm.place("use").path == "implement.sandbox_policy.use"
    assert deployment.rows[0].config["mode"] == "workspace-write"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '[implment.exec]\nuse = "local"\n',
            r":1: implment: there is no 'implment' here\n.*did you mean 'implement'",
        ),
        ("[seam]\nextend = []\n", r":2: seam\.extend: there is no 'extend' here\n.*did you mean 'extends'"),
        ('[agents.a]\nworkspce = "."\n', r":2: agents\.a\.workspce: .*\n.*did you mean 'workspace'"),
        ("[agents.a.consume.x]\n", r":1: agents\.a\.consume: .*\n.*consumers are for all agents"),
        ("[serve.mcp]\n", r":1: serve: .*\n.*\[process\.serve\.NAME\]"),
        ("[implement]\nexec = 3\n", r":2: implement\.exec: is a value, but a table belongs here"),
        ("[implement.exec]\nuse = 3\n", r":2: implement\.exec\.use: input should be a valid string"),
        (
            '[implement.exec]\noptional = "yes"\n',
            r":2: implement\.exec\.optional: input should be a valid boolean",
        ),
        ('[seam]\ndrain = "soon"\n', r":2: seam\.drain: 'soon' is not a duration"),
        ("[seam]\ndrain = 0\n", r":2: seam\.drain: input should be greater than 0"),
        ('[seam]\nmixed = "  "\n', r":2: seam\.mixed: "),
        ('[consume."a b"]\n', r":1: consume\.a b: 'a b' is not a legal name"),
        ('[process."a b"]\nuse = "x"\n', r":1: process\.a b: 'a b' is not a legal name"),
        ("[implement.exec]\n", r":1: implement\.exec: names no implementer\n.*seam plan"),
        ('[agents.global]\nworkspace = "."\n[consume.x]\n', r":1: agents\.global: 'global' means all agents"),
        ('[agents.a]\nworkspace = "~/x"\n[consume.x]\n', r":2: agents\.a\.workspace: .*`~`"),
        ("[agents.a]\n[consume.x]\n", r":1: agents\.a: has no workspace"),
        ("[consume.x]\n", r"declares no agent.*\n.*workspace"),
        ("# nothing yet\n", r"declares no rows\n.*seam init"),
    ],
)
def test_a_mistake_is_named_with_file_line_and_path(tmp_path: Path, text: str, expected: str) -> None:
    problems = refused(write(tmp_path, "seam.toml", text))
    assert any(re.search(expected, problem) for problem in problems), problems
    assert all(str(tmp_path / "seam.toml") in problem for problem in problems)


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    write(tmp_path, "base.toml", "[seam]\nextend = []\n")
    path = write(tmp_path, "seam.toml", '[seam]\nextends = ["base.toml", "gone.toml"]\nmixd = "x"\n')
    assert len(refused(path)) == 1, "a layer of the wrong shape names no bases that can be trusted"
    write(tmp_path, "seam.toml", '[seam]\nextends = ["base.toml", "gone.toml"]\n')
    problems = refused(path)
    assert len(problems) == 2
    assert "base.toml:2: seam.extend" in problems[0]
    assert re.search(r"seam\.toml:2: seam\.extends: .*gone\.toml: there is no such file", problems[1])


def test_layers_in_a_circle_are_named(tmp_path: Path) -> None:
    write(tmp_path, "a.toml", '[seam]\nextends = ["b.toml"]\n')
    write(tmp_path, "b.toml", '[seam]\nextends = ["a.toml"]\n')
    (problem,) = refused(tmp_path / "a.toml")
    assert "a.toml -> b.toml -> a.toml" in problem
    assert f"{tmp_path / 'b.toml'}:2" in problem


def test_a_link_is_the_file_that_it_leads_to_and_paths_start_beside_the_link(tmp_path: Path) -> None:
    shared = write(tmp_path, "shared/seam.toml", ROWS)
    (tmp_path / "mine").mkdir()
    link = tmp_path / "mine" / "seam.toml"
    link.symlink_to(shared)
    deployment = read_deployment(link)
    assert deployment.agents[0].workspace == str(tmp_path / "mine")
    assert deployment.layers == (link,)
    shared.write_text(f'[seam]\nextends = ["{link}"]\n{ROWS}')
    (problem,) = refused(link)
    assert "in a circle: seam.toml -> seam.toml" in problem


def test_a_missing_file_and_a_folder_are_named(tmp_path: Path) -> None:
    (missing,) = refused(tmp_path / "none.toml")
    assert "none.toml: there is no such file" in missing
    assert "seam init" in missing
    (folder,) = refused(tmp_path)
    assert "is a folder" in folder


@pytest.mark.parametrize(
    ("data", "line", "what"),
    [
        (b"", 1, "is empty"),
        (b"  \n\n", 1, "is empty"),
        (b"\0" * 300, 1, "holds 300 NUL bytes"),
        (ROWS.encode() + b"\0\0", 5, "holds 2 NUL bytes"),
        (ROWS.encode()[:-6], 4, "is not valid TOML"),
        (ROWS.encode()[: len(AGENT) + 9], 3, "is not valid TOML"),
        (b"[agents.default]\nworkspace = '\xff'\n", 2, "is not UTF-8"),
        (b"[agents.default]\nworkspace = 'a'\nworkspace = 'b'\n", 3, "is not valid TOML"),
    ],
    ids=["empty", "blank", "nuls", "nuls at the end", "half a value", "half a table", "latin-1", "twice"],
)
def test_ke_003_a_corrupt_file_is_named_with_its_line_and_nothing_is_guessed(
    tmp_path: Path, data: bytes, line: int, what: str
) -> None:
    file = tmp_path / "seam.toml"
    file.write_bytes(data)
    (problem,) = refused(file)
    assert problem.startswith(f"{file}:{line}: ")
    assert what in problem


def test_ke_003_a_corrupt_layer_refuses_the_whole_deployment(tmp_path: Path) -> None:
    base = write(tmp_path, "base.toml", ROWS)
    base.write_bytes(ROWS.encode()[: len(AGENT) - 4])
    (problem,) = refused(write(tmp_path, "seam.toml", '[seam]\nextends = ["base.toml"]\n' + ROWS))
    assert problem.startswith(f"{base}:")


def test_a_byte_order_mark_and_crlf_are_read(tmp_path: Path) -> None:
    file = tmp_path / "seam.toml"
    file.write_bytes(b"\xef\xbb\xbf" + ROWS.replace("\n", "\r\n").encode())
    deployment = read_deployment(file)
    assert deployment.rows[0].where.line == 3


WHOLE = """\
[seam]
mixed = "a \\u00e9 \\\\ reason"
drain = "1m"
[agents.default]
workspace = "."
[agents.b.implement.exec]
x = [1, { y = "}" }]
[implement.exec]
use = '''
local'''
"a b".c = 1979-05-27T07:32:00Z
[process.serve.mcp]
"""
TOKENS = st.sampled_from(
    [
        *"[]{}=.,#\n \"'\\",
        '"""',
        "'''",
        "seam",
        "agents",
        "implement",
        "use",
        "1",
        "true",
        "1979-05-27",
        "é",
        "\0",
        "\r\n",
    ]
)


def judged(file: Path) -> None:
    """A deployment, or an error that names the file: never anything else."""
    try:
        assert isinstance(read_deployment(file), Deployment)
    except DeploymentError as error:
        assert error.problems
        assert all(str(problem).startswith(str(file)) for problem in error.problems)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bad-input") / "seam.toml"


def test_ke_003_a_file_that_is_cut_off_anywhere_is_judged(scratch: Path) -> None:
    data = WHOLE.encode()
    for length in range(len(data) + 1):
        scratch.write_bytes(data[:length])
        judged(scratch)


@given(st.binary(max_size=200))
def test_any_bytes_are_judged(scratch: Path, data: bytes) -> None:
    scratch.write_bytes(data)
    judged(scratch)


@given(st.lists(TOKENS, max_size=25).map("".join), st.integers(0, len(WHOLE)))
def test_anything_that_looks_like_toml_is_judged(scratch: Path, piece: str, place: int) -> None:
    scratch.write_text(WHOLE[:place] + piece + WHOLE[place:], encoding="utf-8", newline="")
    judged(scratch)


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(min_size=1, max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.sampled_from(["seam", "agents", "implement", "consume", "process", "serve", "x"]), json_values)
def test_any_shape_is_judged(scratch: Path, table: str, value: object) -> None:
    text = json.dumps(value).replace(": ", " = ").replace("null", "1")
    scratch.write_text(f"{table} = {text}\n", encoding="utf-8")
    judged(scratch)
