"""What running a command through Seam costs, against doing it by hand in the same run."""

from __future__ import annotations

from collections.abc import Sequence

from seam.bench import _exec_chain
from seam.bench import _exec_latency as latency
from seam.bench import _exec_volume as volume
from seam.bench._flood import MIB
from seam.bench.report import Row, Subject, run_subjects


def measure(smoke: bool) -> Sequence[Row]:
    """Return all rows; with `smoke`, of one short round."""
    rounds = 20 if smoke else 500
    size = (16 if smoke else 1024) * MIB
    rows: list[Row] = []
    for backend in ("asyncio", "trio"):
        rows += latency.on(backend, rounds)
        rows += _exec_chain.chain(backend, rounds)
    rows += latency.floor(rounds)
    rows += latency.levels(rounds)
    for backend in ("asyncio", "trio"):
        rows += volume.flood(backend, size)
    rows += volume.crowd(10 if smoke else 200)
    rows += volume.idlers(10 if smoke else 1000)
    return rows


SUBJECT = Subject("exec", "commands through exec-local with complete containment", measure)

if __name__ == "__main__":
    raise SystemExit(run_subjects([SUBJECT]))
