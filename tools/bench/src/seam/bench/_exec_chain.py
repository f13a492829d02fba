"""One `true` as a model's call: deployment, turn, approval, the `shell` tool, exec-local, and the text for the model."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import anyio

from seam.bench._exec_latency import BASELINE, blocking_way, sampled
from seam.bench.report import Row, compared, percentile

GOAL = 1.30
DEPLOYMENT = """
[agents.default]
workspace = "."
[implement.subprocess]
use = "local"
[implement.exec]
use = "local"
[implement.tools]
use = "runtime"
[consume.exec-tool]
[process.journal]
use = "memory"
"""


def chain(backend: str, rounds: int) -> list[Row]:
    """Rows of the whole chain on one event loop, with the journal in memory and an approval that says yes at once."""

    async def measure() -> dict[str, list[float]]:
        from seam.host import Host
        from seam.tools_def import Access, ApprovalAnswer, ApprovalPort, ApprovalRequest, Approve, Completed

        class Yes(ApprovalPort):
            async def ask(self, request: ApprovalRequest) -> ApprovalAnswer:
                return Approve(by="bench")

        with tempfile.TemporaryDirectory(prefix="seam-bench-") as folder:
            path = Path(folder, "deployment.toml")
            path.write_text(DEPLOYMENT, "utf-8")  # noqa: ASYNC240 - before anything is measured
            access = Access(principal="bench", platform="bench")
            async with (
                Host.open(path) as host,
                host.turns.open("default", session="bench", access=access, approval=Yes()) as turn,
            ):

                async def call() -> None:
                    outcome = await turn.call("shell", {"command": "true"})
                    assert isinstance(outcome, Completed), outcome

                return await sampled({BASELINE: blocking_way, "shell": call}, rounds)

    samples = anyio.run(measure, backend=backend)
    return list(_rows(samples, backend))


def _rows(samples: dict[str, list[float]], backend: str) -> Sequence[Row]:
    rows: list[Row] = []
    for part, at in (("p50", 0.5), ("p95", 0.95)):
        own, base = percentile(samples["shell"], at) * 1e3, percentile(samples[BASELINE], at) * 1e3
        name = f"through the whole tool chain, {backend}, {part}"
        rows.append(compared(name, own, "ms", BASELINE, base, at_most=GOAL if part == "p50" else None))
    return rows
