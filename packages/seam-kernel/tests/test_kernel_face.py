"""The public face is exact: it changes on purpose only."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

import seam.kernel
from seam.testkit.face import face_problems

RECORDED = [
    "Answer",
    "Around",
    "Context",
    "ContextInactive",
    "ContextSealed",
    "Decide",
    "DeploymentPath",
    "Disposer",
    "DuplicateInstance",
    "DuplicateProvider",
    "Fault",
    "FaultSink",
    "FrozenMapping",
    "Instance",
    "InstanceFacts",
    "InvalidConfig",
    "InvalidDeclaration",
    "Kernel",
    "KernelError",
    "MiddlewareFinished",
    "MiddlewareSkipped",
    "Next",
    "NoConfig",
    "Observe",
    "PathMark",
    "Phase",
    "Plugin",
    "PluginFailed",
    "Problem",
    "Release",
    "Retryable",
    "Scope",
    "ScopeFacts",
    "ScopeUnsettled",
    "SeamError",
    "Seconds",
    "Service",
    "ServiceFacts",
    "ServiceUnavailable",
    "State",
    "TeardownAbandoned",
    "UndeclaredService",
    "Value",
    "WatchedPath",
    "deployment_paths",
    "log_fault",
    "plugin",
]


def test_the_public_face_is_exact() -> None:
    assert face_problems(seam.kernel, RECORDED) == []


@pytest.mark.parametrize(
    ("listed", "problem"),
    [
        (["b", "a"], "not sorted"),
        (["a", "a", "b"], "twice"),
        (["a"], "'b' is bound but not in __all__"),
        (["a", "b", "c"], "'c', which is not bound"),
        (["a", "b"], "'b' has no docstring"),
    ],
)
def test_a_face_that_is_not_exact_is_found_out(listed: list[str], problem: str) -> None:
    module = ModuleType("made_up")
    vars(module).update(a=face_problems, b=type("b", (), {}), __all__=listed)
    assert any(problem in found for found in face_problems(module))


def test_importing_the_kernel_brings_in_pydantic_and_anyio_and_nothing_else_of_ours() -> None:
    code = "import sys; from seam.kernel import *; print(sorted(n for n in sys.modules if n.startswith('seam.') and n.count('.') == 1))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['seam.kernel']"


def test_error_codes_are_stable_and_unique() -> None:
    errors = [
        value
        for name in seam.kernel.__all__
        if isinstance(value := getattr(seam.kernel, name), type) and issubclass(value, seam.kernel.SeamError)
    ]
    codes = [error.code for error in errors]
    assert len(set(codes)) == len(codes) == 15
    with pytest.raises(AttributeError, match="carries no fact named 'colour'"):
        _ = seam.kernel.SeamError("text", key=1).colour
