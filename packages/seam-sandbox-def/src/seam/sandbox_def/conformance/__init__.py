"""The conformance kit of sandbox runtimes: the attack matrix.

    matrix = Matrix(Path("/var/lib/arena"), "/usr/bin/python3", subprocess_runtime)
    results = await matrix.run(ATTEMPTS, [my_runtime])
    assert all(result.honest for result in results[my_runtime.mechanism])

Every attempt is a small program that tries one way out. It runs once without a sandbox: where it fails even then, it
proves nothing. Where it gets through a runtime, the runtime must have named the gap. Run it as root and as an
ordinary user; `python -m seam.sandbox_def.conformance` does it for whoever calls it, and writes JSON.
"""

from seam.sandbox_def.conformance._arena import Arena
from seam.sandbox_def.conformance._attempt import Attempt
from seam.sandbox_def.conformance._files import METADATA, PROTECTED, WRITING
from seam.sandbox_def.conformance._kernel import KERNEL, RESOURCES
from seam.sandbox_def.conformance._matrix import Matrix, Result, spawn_spec
from seam.sandbox_def.conformance._network import NETWORK
from seam.sandbox_def.conformance._processes import PROCESSES
from seam.sandbox_def.conformance._reading import READING

ATTEMPTS: tuple[Attempt, ...] = (
    *WRITING,
    *METADATA,
    *PROTECTED,
    *READING,
    *NETWORK,
    *PROCESSES,
    *KERNEL,
    *RESOURCES,
)
"""Every attempt, in a fixed order."""

__all__ = ["ATTEMPTS", "Arena", "Attempt", "Matrix", "Result", "spawn_spec"]
