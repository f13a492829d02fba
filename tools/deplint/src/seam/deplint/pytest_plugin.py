"""pytest plugin: `--seam-deplint` adds one test that runs the linter on the folder of the configuration."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the option; without it the plugin does nothing and imports nothing of the linter."""
    group = parser.getgroup("seam-deplint")
    group.addoption(
        "--seam-deplint", action="store_true", help="check the dependency law as a test of its own"
    )


def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add the item once, behind the collected tests."""
    if config.getoption("--seam-deplint"):
        # pytest leaves the keywords of `from_parent` without a type
        item = LawItem.from_parent(session, name="seam-deplint", nodeid="seam-deplint")  # pyright: ignore[reportUnknownMemberType]
        items.append(item)


class LawFindings(Exception):
    """The report of a run that failed."""


class LawItem(pytest.Item):
    """The dependency law as one test: its failure is the report."""

    def runtest(self) -> None:
        """Check the tree; nothing to check is a failure too."""
        from seam.deplint import check_tree
        from seam.deplint.report import render_text

        report = check_tree(self.config.rootpath)
        if report.failed:
            raise LawFindings(render_text(report))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        """The report without a traceback: the way into the linter is of no interest."""
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the item belongs."""
        return self.config.rootpath, None, "seam-deplint"


def pytest_report_header(config: pytest.Config) -> Iterable[str]:
    """Say that the law is part of this run."""
    return ["seam-deplint: the dependency law is checked"] if config.getoption("--seam-deplint") else []
