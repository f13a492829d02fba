"""What the README and the page of the kernel say, run as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1]
PAGES = {"README": PACKAGE / "README.md", "page": PACKAGE.parents[1] / "docs" / "kernel.md"}


@pytest.mark.parametrize(("page", "output"), [("README", "hello\n"), ("page", "")])
def test_the_blocks_of_a_page_run_from_top_to_bottom(
    page: str, output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGES[page].read_text("utf-8"), re.DOTALL)
    assert blocks
    namespace: dict[str, object] = {"__name__": page}
    for block in blocks:
        exec(compile(block, str(PAGES[page]), "exec"), namespace)
    assert capsys.readouterr().out == output
