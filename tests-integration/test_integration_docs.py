"""Pages that show code show the code that is tested."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "tests-integration" / "third-party" / "acme-exec-direct"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)


def test_the_page_about_implementers_shows_the_example_that_is_tested() -> None:
    page = "docs/write-an-implementer.md"
    assert (EXAMPLE / "pyproject.toml").read_text("utf-8") in blocks(page, "toml")
    assert (EXAMPLE / "src" / "acme_exec" / "__init__.py").read_text("utf-8") in blocks(page, "python")
