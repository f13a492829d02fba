"""The conformance kit of the contract for running shell commands.

A test module of an implementer says `from seam.exec_def.conformance import *` and provides the fixture `exec_subject`,
a `Subject`; pytest then collects every check, on each event loop of the fixture `anyio_backend`. What an implementer
honestly lacks is said in `Capabilities`. The subject's `card` holds, for programs, what was kept, broken and lacking.
`examine` runs checks without a test runner.
"""

import pytest

for _module in ("_background", "_contract", "_ends", "_interruption", "_output", "_shell", "_trees"):
    pytest.register_assert_rewrite(f"seam.exec_def.conformance.{_module}")

from seam.exec_def.conformance._suite import *  # noqa: E402, F403  # pyright: ignore[reportWildcardImportFromLibrary]  # 120 checks
from seam.exec_def.conformance._suite import __all__ as __all__  # noqa: E402
