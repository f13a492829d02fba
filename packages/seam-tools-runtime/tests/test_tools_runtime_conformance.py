"""The runtime keeps the contract of `Tools`."""

from __future__ import annotations

import pytest

from seam.tools_def.conformance import ToolsConformance, ToolsSubject
from seam.tools_runtime import RuntimeConfig, open_runtime


class TestRuntime(ToolsConformance):
    @pytest.fixture
    def subject(self) -> ToolsSubject:
        return ToolsSubject(name="runtime", open=lambda: open_runtime(RuntimeConfig(grace=0.2)))
