"""`entry_points.txt`, read line by line: one bad line costs that line, not the program.

The standard library's reader raises for the whole environment when one distribution's file is malformed.
Format: https://packaging.python.org/en/latest/specifications/entry-points/
"""

from __future__ import annotations

import re

from seam.kernel import Value

_REFERENCE = re.compile(
    r"(?P<module>[A-Za-z_]\w*(\.[A-Za-z_]\w*)*)\s*(:\s*(?P<object>[A-Za-z_]\w*(\.[A-Za-z_]\w*)*))?\s*(\[[^\]]*\])?"
)


class EntryPoint(Value):
    """One line of an `entry_points.txt`.

    Attributes:
        group: `seam.implementer.exec`, ...
        name: what stands before the `=`.
        module: importable name.
        attribute: dotted name inside the module; may be empty.
    """

    group: str
    name: str
    module: str
    attribute: str = ""

    def __str__(self) -> str:
        return f"{self.module}:{self.attribute}" if self.attribute else self.module


def parse_entry_points(text: str) -> tuple[list[EntryPoint], list[str]]:
    """The entry points of one file, without duplicates, and a sentence for each line that is not one."""
    found: dict[tuple[str, str], EntryPoint] = {}
    problems: list[str] = []
    group = ""
    for number, line in enumerate(text.splitlines(), start=1):
        content = line.strip()
        if not content or content[0] in "#;":
            continue
        if content.startswith("[") and content.endswith("]"):
            group = content[1:-1].strip()
            continue
        name, equals, reference = (part.strip() for part in content.partition("="))
        match = _REFERENCE.fullmatch(reference)
        if not group or not equals or not name:
            problems.append(f"line {number} is not `name = module:object`: {content!r}")
        elif match is None:
            problems.append(f"line {number} does not name an object ({name!r} in [{group}]): {reference!r}")
        else:
            found.setdefault(
                (group, name),
                EntryPoint(group=group, name=name, module=match["module"], attribute=match["object"] or ""),
            )
    return list(found.values()), problems
