"""The kit as a pytest class: subclass it, give one fixture."""

from __future__ import annotations

import pytest

from seam.tools_def.conformance._check import Check
from seam.tools_def.conformance._journal_checks import JOURNAL_CHECKS
from seam.tools_def.conformance._journal_subject import JournalSubject


class JournalConformance:
    """Every check of the kit, on every event loop that `anyio_backend` names.

    ```python
    class TestOurJournal(JournalConformance):
        @pytest.fixture
        def subject(self, tmp_path):
            return JournalSubject(name="ours", open=lambda: OurJournal.open(tmp_path / "j.db"))
    ```

    A subclass that overrides `test_keeps` for one check says why in its docstring.
    """

    @pytest.fixture
    def subject(self) -> JournalSubject:
        """The journal under test; to be overridden."""
        raise NotImplementedError("override the fixture `subject` and return a JournalSubject")

    @pytest.mark.anyio
    @pytest.mark.parametrize("check", JOURNAL_CHECKS, ids=lambda check: check.name)
    async def test_keeps(self, check: Check[JournalSubject], subject: JournalSubject) -> None:
        """The contract's sentence holds; what the implementer says it lacks is left out."""
        if not check.needs & subject.lacks:
            await check.run(subject)
