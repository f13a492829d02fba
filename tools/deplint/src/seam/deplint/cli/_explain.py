"""`explain RULE`: the page of a rule, which ships with the package."""

from __future__ import annotations

from importlib.resources import files

from seam.deplint._collect import NotChecked
from seam.deplint.rules import BY_ID, RULES


def explain(rule: str) -> str:
    """The page of one rule, or the list of all rules."""
    if not rule:
        width = max(len(item.id) for item in RULES)
        lines = [f"{item.id:<{width}}  {item.severity.name.lower():<7}  {item.title}" for item in RULES]
        return "\n".join(lines) + "\n"
    if rule not in BY_ID:
        raise NotChecked(f"no rule {rule!r}; `seam-deplint explain` lists them")
    return files("seam.deplint").joinpath("pages", f"{rule}.md").read_text("utf-8")
