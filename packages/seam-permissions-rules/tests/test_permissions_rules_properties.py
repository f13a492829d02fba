"""No wrapping of a denied command is allowed, no unknown part is allowed, and what is allowed runs nothing else: bash is asked."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import cast

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from permissions_rules_calls import ACCESS, AGENT, permissions, shell

from seam.permissions_rules import RulesPermissions
from seam.tools_def import Decision

DENIED = "rm -rf /tmp/zz"
TRUSTED = [
    f"{name} *"
    for name in (
        "git", "ls", "echo", "cd", "true", "env", "xargs", "bash", "sh", "sudo", "timeout", "nice", "nohup", "find", "time",
        "command", "exec", "eval", "cat", "f", "watch", "ssh", "su", "newtool", "trap", "busybox", "flock", "test", "rm",
    )
]  # fmt: skip

Wrap = Callable[[str], str]

AROUND: dict[str, Wrap] = {
    "subshell": lambda text: f"({text})",
    "group": lambda text: f"{{ {text}; }}",
    "negation": lambda text: f"! {text}",
    "if": lambda text: f"if true; then {text}; fi",
    "else": lambda text: f"if false; then ls; else {text}; fi",
    "while": lambda text: f"while {text}; do true; done",
    "for": lambda text: f"for x in 1; do {text}; done",
    "case": lambda text: f"case x in x) {text};; esac",
    "function": lambda text: f"f() {{ {text}; }}; f",
    "substitution": lambda text: f"echo $({text})",
    "quoted substitution": lambda text: f'echo "a $({text}) b"',
    "default": lambda text: f"echo ${{x:-$({text})}}",
    "process substitution": lambda text: f"cat <({text})",
    "here-string": lambda text: f"cat <<< $({text})",
    "here-document": lambda text: f"cat <<EOF\n$({text})\nEOF",
    "bash -c": lambda text: f"bash -c {shlex.quote(text)}",
    "sh -ec": lambda text: f"sh -ec {shlex.quote(text)}",
    "eval": lambda text: f"eval {shlex.quote(text)}",
    "trap": lambda text: f"trap {shlex.quote(text)} EXIT",
    "sudo bash -c": lambda text: f"sudo -u root bash -c {shlex.quote(text)}",
    "env bash -c": lambda text: f"env A=1 bash -c {shlex.quote(text)}",
    "watch": lambda text: f"watch {shlex.quote(text)}",
    "ssh": lambda text: f"ssh host {shlex.quote(text)}",
    "su -c": lambda text: f"su -c {shlex.quote(text)}",
    "unknown program": lambda text: f"newtool --run {shlex.quote(text)}",
    "to a shell": lambda text: f"echo {shlex.quote(text)} | sh",
    "shell's standard input": lambda text: f"bash <<'EOF'\n{text}\nEOF",
    "after": lambda text: f"git status; {text}",
    "after newline": lambda text: f"git status\n{text}",
    "and": lambda text: f"cd / && {text}",
    "or": lambda text: f"false || {text}",
    "background": lambda text: f"ls & {text}",
    "before": lambda text: f"{text} && git status",
    "pipe": lambda text: f"ls | {text}",
    "discarded": lambda text: f"{text} > /dev/null 2>&1",
    "comment": lambda text: f"ls # harmless\n{text}",
}
BEFORE = (
    "env", "env -i A=1", "time", "time -p", "nice -n 5", "timeout -s KILL 5", "nohup", "command", "command -p", "exec", "exec -a ls",
    "stdbuf -oL", "setsid -w", "xargs", "xargs -0 -n 1", "sudo", "sudo -n -u root", "busybox", "X=1", "A=b C=d", "find . -exec",
    "flock /tmp/lock", "newtool", "coproc", "builtin", "ionice -c 3", "/usr/bin/env", "\\env", 'e"n"v',
)  # fmt: skip
SPELLED = (
        "/bin/rm -rf /tmp/zz", "\\rm -rf /tmp/zz", 'r""m -rf /tmp/zz', "'rm' -rf /tmp/zz", "rm  -rf\t/tmp/zz",
        "rm \\\n-rf /tmp/zz", "r\\\nm -rf /tmp/zz", "rm -fr /tmp/zz", "rm -r -f /tmp/zz",
        "rm --recursive --force /tmp/zz", "$'\\x72m' -rf /tmp/zz", "rm -rf $x", "$x -rf /tmp/zz",
)  # fmt: skip


def around(wrap: str, text: str) -> str:
    return AROUND[wrap](text)


wrapped = st.recursive(
    st.sampled_from(SPELLED) | st.builds("{} {}".format, st.sampled_from(BEFORE), st.sampled_from(SPELLED)),
    lambda inner: st.builds(around, st.sampled_from(sorted(AROUND)), inner),
    max_leaves=4,
)


def said(policy: RulesPermissions, text: str) -> str:
    deciding = policy.decide(shell(text), AGENT, ACCESS)
    try:
        deciding.send(None)  # it waits for nothing: no event loop is needed, and thousands of texts are asked
    except StopIteration as answered:
        decision = cast("Decision | None", answered.value)
        return "silent" if decision is None else decision.verdict
    raise AssertionError("it waits for something")


@given(wrapped)
@settings(deadline=None, max_examples=400)
def test_no_wrapping_of_a_denied_command_is_allowed(text: str) -> None:
    assert said(permissions(deny=["rm -rf *"], allow=TRUSTED), text) in ("deny", "ask"), text


@pytest.mark.parametrize("wrap", sorted(AROUND))
def test_each_wrapping_alone_and_each_wrapper_in_it(wrap: str) -> None:
    policy = permissions(deny=["rm -rf *"], allow=TRUSTED)
    for before in ("", *BEFORE):
        text = around(wrap, f"{before} {DENIED}".strip())
        assert said(policy, text) in ("deny", "ask"), text


@given(
    st.sampled_from(["git status", "ls -l", "echo a b", "ls 2>/dev/null"]),
    st.sampled_from([";", "&&", "||", "|", "&", "\n", ";\n", "|&", "; # x\n"]),
    st.sampled_from(
        [
            "unheard-of",
            "$x",
            "$(y)",
            "./x",
            "> f",
            "x=1",
            ". f",
            "eval $y",
            "if",
            "ls >(z)",
            "\u00a0ls",
            "ls\r",
            "((x++))",
        ]
    ),
    st.booleans(),
)
@settings(deadline=None, max_examples=200)
def test_no_concatenation_with_an_unknown_part_is_allowed(
    known: str, between: str, unknown: str, first: bool
) -> None:
    text = f"{unknown} {between} {known}" if first else f"{known} {between} {unknown}"
    assert said(permissions(allow=["git *", "ls *", "echo *"]), text) != "allow"


@given(
    st.text(st.characters(exclude_categories=[]), max_size=200),
    st.sampled_from(["bash", "sh", "zsh", "fish", "pwsh", "argv"]),
)
@settings(deadline=None, max_examples=300)
def test_any_text_has_an_answer_and_nothing_raises(text: str, dialect: str) -> None:
    policy = permissions(allow=["git *"], deny=["rm *"], ask=["mv *"])

    async def ask() -> None:
        call = shell(text, dialect)
        decision = await policy.decide(call, AGENT, ACCESS)
        explained = await policy.explain(call, AGENT, ACCESS)
        assert isinstance(explained, dict)
        assert explained["verdict"] == (decision.verdict if decision else None)
        for rule in policy.offers(call, AGENT, ACCESS):
            assert policy.covers(rule, call, AGENT, ACCESS)

    anyio.run(ask)


@pytest.mark.parametrize(
    "text",
    ["ls \U000e3280<<EOF", "coproc &&\nfenv ~while {\U000e3280<<EOF\nx", "${\U000b9b9a{ \n", "\u0661=1 git"],
)
def test_characters_beyond_ascii_cannot_crash_the_parser(text: str) -> None:
    """The grammar's C code looks characters up in a table that ends at 255."""
    assert said(permissions(allow=["git *"]), text) != "allow"


def test_words_beyond_ascii_are_compared_as_they_are() -> None:
    policy = permissions(allow=["grüße an *", "printf 'ü'"], deny=["löschen *"])
    assert said(policy, "grüße an 'Jürgen' | printf ü") == "allow"
    assert said(policy, "grusse an Jürgen") != "allow"
    assert said(policy, "printf ö") != "allow"
    assert said(policy, "grüße an x; löschen x") == "deny"


TOKENS = st.sampled_from(
    [
        "ok", "ok", "ok a", "ok -b 'c d'", "bad", "$x", "${y:-bad}", "$(ok)", "$(bad)", "`bad`", '"', "'", "\\",
        "\\\n", " ", "  ", "\t", "\n", ";", ";;", "&", "&&", "|", "||", "|&", "(", ")", "{", "}", "{ ", "; }", "<",
        ">", ">>", "<<EOF\n", "\nEOF\n", "<<<", "<(", ">(", "2>&1", ">/dev/null", "<&-", "out", "!", "if ", "then ",
        "fi", "while ", "do ", "done", "for i in ", "case x in x) ", "esac", "f() ", "f", "function f ", "=",
        "x=bad", "x=ok ", "[[ ", " ]]", "((", "))", "$((", "[", "]", "*", "?", "~", "#", "$'", "$\"", "\\x62",
        "\n\\ok", "\n\\bad", "<<-EOF\n", "<<'EOF'\n", "$((1+", "${", "}", "$(<", "esac;", "EOF\n", "\n\n", " -c ",
        "@(", "+(", "!(", "eval ", "exec ", "env ", "command ", "bash -c ", "'bad'", "\"bad\"", "b''ad", "xargs ",
        "time ", "coproc ", "trap ", "EXIT", ",", "{ok,bad}", "-", "--", "@", ":", ": ", "declare ", "x", "1", "EOF",
    ]
)  # fmt: skip


def run_with_stubs(text: str) -> tuple[set[str], set[str]]:
    """What bash runs, and which files appear, where each program only writes down its name."""
    with tempfile.TemporaryDirectory(prefix="policy-") as folder:
        home, programs = Path(folder, "home"), Path(folder, "bin")
        home.mkdir()
        programs.mkdir()
        log = Path(folder, "log")
        for name in ("bash", "env", "xargs"):
            (programs / name).symlink_to(shutil.which(name) or name)
        for name in ("ok", "bad", "a", "c", "d", "out", "x", "f", "EOF"):
            stub = programs / name
            stub.write_text(f"#!/bin/sh\necho {name} >> {log}\n")
            stub.chmod(0o755)
        subprocess.run(
            ["/bin/bash", "--noprofile", "--norc", "-c", text],
            cwd=home,
            env={"PATH": str(programs), "HOME": str(home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
        ran = set(log.read_text().split()) if log.exists() else set[str]()
        return ran, set(os.listdir(home))


ONLY_OK = permissions(allow=["ok *"])


@given(st.lists(TOKENS, min_size=1, max_size=9).map("".join))
@settings(deadline=None, max_examples=1500, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_allowed_runs_nothing_else_says_bash(text: str) -> None:
    if said(ONLY_OK, text) == "allow":
        ran, files = run_with_stubs(text)
        assert ran <= {"ok"}, f"{text!r} ran {ran}"
        assert not files, f"{text!r} wrote {files}"


@pytest.mark.full
@given(st.lists(TOKENS, min_size=1, max_size=14).map("".join))
@settings(deadline=None, max_examples=60_000, suppress_health_check=[HealthCheck.too_slow])
@pytest.mark.timeout(3600)
def test_what_is_allowed_runs_nothing_else_says_bash_at_length(text: str) -> None:
    test_what_is_allowed_runs_nothing_else_says_bash.hypothesis.inner_test(text)  # pyright: ignore[reportFunctionMemberAccess, reportUnknownMemberType, reportAttributeAccessIssue] - hypothesis' own handle
