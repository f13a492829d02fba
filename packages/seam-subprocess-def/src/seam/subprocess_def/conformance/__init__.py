"""The conformance kit of the subprocess contract.

A test module of an implementer says `from seam.subprocess_def.conformance import *` and has a fixture
`subprocess_subject` that returns a `Subject`; pytest then runs every check, on each event loop that the
fixture `anyio_backend` names. What an implementer honestly lacks is said in `Capabilities`, what it
deliberately does otherwise in `Subject.overrides`, with the reason. `Subject.card` collects the findings
for programs. `examine` runs checks without pytest.
"""

import pytest

for _module in (
    "ends",
    "filters",
    "lifetimes",
    "start",
    "streams",
    "surroundings",
    "termination",
    "terminals",
    "trial",
    "volume",
):
    pytest.register_assert_rewrite(f"seam.subprocess_def.conformance._{_module}")

from seam.subprocess_def.conformance._suite import *  # noqa: E402, F403  # pyright: ignore[reportWildcardImportFromLibrary] - over a hundred checks
from seam.subprocess_def.conformance._suite import __all__ as __all__  # noqa: E402
