"""What could not be read, and what was written down by mistake: nothing is left out in silence."""

from __future__ import annotations

from collections.abc import Iterator

from seam.deplint.facts import Place
from seam.deplint.rules._finding import Finding
from seam.deplint.rules._view import View

_WAYS = {
    "manifest-broken": "correct the manifest; until then this distribution is not checked in full",
    "metadata-dynamic": "state them in pyproject.toml, or check the built wheel in the same run",
    "metadata-broken": "install the distribution again",
    "archive-broken": "build the archive again",
    "module-unowned": "ship it, move it into a distribution, or remove it",
    "file-unreadable": "make it readable for this Python, or exclude it by configuration",
    "archive-unsafe": "do not unpack it; build the archive again",
    "deployment-broken": "correct the file",
    "record-mismatch": "build the archive again; RECORD must list every file with its digest",
    "rule-idle": "correct the pattern or remove it",
}


def file_unreadable(view: View) -> Iterator[Finding]:
    """Files whose imports are unknown."""
    for item in view.sorted_members():
        for module in item.modules.values():
            if module.scan.error:
                place = Place(module.path, module.scan.error_line)
                text = f"{module.scan.error}; its imports are not checked"
                yield Finding(
                    "file-unreadable", item.name, module.path, place, text, _WAYS["file-unreadable"]
                )


def problems(view: View) -> Iterator[Finding]:
    """What the readers of the sources ran into, under the rule that each problem names."""
    for item in view.sorted_members():
        for problem in item.problems:
            way = _WAYS.get(problem.rule, "see the page of the rule")
            yield Finding(
                problem.rule, item.name, problem.subject or problem.text, problem.place, problem.text, way
            )
