"""The tables of docs/permissions.md are true."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from permissions_rules_calls import permissions, shell, verdict

PAGE = Path(__file__).parents[3] / "docs" / "permissions.md"
ROW = re.compile(r"\| `(?P<text>.+?)` \| (?P<answer>allow|ask|deny) \|")


def rows() -> list[tuple[str, str]]:
    found = [ROW.match(line) for line in PAGE.read_text("utf-8").splitlines()]
    return [(row["text"].replace("\\|", "|"), row["answer"]) for row in found if row]


@pytest.mark.anyio
async def test_pi_025_what_is_in_scope_and_what_is_not_is_as_the_page_says() -> None:
    programs = ("git", "ls", "echo", "cat", "cut", "python", "ssh", "make")
    policy = permissions(deny=["rm -rf *"], allow=[f"{program} *" for program in programs])
    wrong = {
        text: found
        for text, answer in rows()
        # where no rule speaks, the shell's own effects are what is asked about
        if (found := (await verdict(policy, shell(text))).replace("silent", "ask")) != answer
    }
    assert not wrong
    assert len(rows()) > 30
