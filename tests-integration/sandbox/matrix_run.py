"""Run the attack matrix as whoever calls this, and write the results as JSON.

usage: python matrix_run.py --out results.json [--sample N --seed S] [--runtime bwrap --runtime landlock] [--base FOLDER]
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import anyio

from seam.sandbox_bwrap import BwrapConfig, BwrapRuntime
from seam.sandbox_def.conformance import ATTEMPTS, Attempt, Matrix, Result
from seam.sandbox_landlock import LandlockConfig, LandlockRuntime
from seam.subprocess_local import LocalSubprocessConfig, open_runtime

RUNTIMES = ("bwrap", "landlock")


def choose(sample: int | None, seed: int) -> tuple[Attempt, ...]:
    """Every attempt, or as many as `sample`, the same ones for the same seed."""
    if sample is None:
        return ATTEMPTS
    picked = set(random.Random(seed).sample(range(len(ATTEMPTS)), min(sample, len(ATTEMPTS))))
    return tuple(attempt for index, attempt in enumerate(ATTEMPTS) if index in picked)


async def run(attempts: Sequence[Attempt], runtimes: Sequence[str], base: Path) -> dict[str, list[Result]]:
    """The results of each runtime."""
    async with open_runtime(LocalSubprocessConfig()) as subprocess:
        made = {
            "bwrap": lambda: BwrapRuntime(subprocess, BwrapConfig(fallback="none")),
            "landlock": lambda: LandlockRuntime(subprocess, LandlockConfig()),
        }
        chosen = [made[name]() for name in runtimes]
        try:
            return await Matrix(base, sys.executable, subprocess).run(attempts, chosen)
        finally:
            for runtime in chosen:
                runtime.close()


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--runtime", action="append", choices=RUNTIMES)
    given = parser.parse_args()
    results = anyio.run(run, choose(given.sample, given.seed), given.runtime or RUNTIMES, given.base)
    given.out.write_text(
        json.dumps({name: [asdict(one) for one in rows] for name, rows in results.items()}), "utf-8"
    )


if __name__ == "__main__":
    main()
