"""The kit for `Tools` as a pytest class: subclass it, give one fixture."""

from __future__ import annotations

import pytest

from seam.tools_def.conformance._check import Check
from seam.tools_def.conformance._tools_calls import call_checks
from seam.tools_def.conformance._tools_policy import policy_checks
from seam.tools_def.conformance._tools_subject import ToolsSubject
from seam.tools_def.conformance._tools_turns import turn_checks

TOOLS_CHECKS: tuple[Check[ToolsSubject], ...] = (
    *call_checks.checks,
    *policy_checks.checks,
    *turn_checks.checks,
)
"""The kit for `Tools`."""


class ToolsConformance:
    """Every check of the kit, on every event loop that `anyio_backend` names.

    ```python
    class TestOurRuntime(ToolsConformance):
        @pytest.fixture
        def subject(self):
            return ToolsSubject(name="ours", open=lambda: our_runtime(grace=1))
    ```
    """

    @pytest.fixture
    def subject(self) -> ToolsSubject:
        """The runtime under test; to be overridden."""
        raise NotImplementedError("override the fixture `subject` and return a ToolsSubject")

    @pytest.mark.anyio
    @pytest.mark.parametrize("check", TOOLS_CHECKS, ids=lambda check: check.name)
    async def test_keeps(self, check: Check[ToolsSubject], subject: ToolsSubject) -> None:
        """The contract's sentence holds."""
        await check.run(subject)
