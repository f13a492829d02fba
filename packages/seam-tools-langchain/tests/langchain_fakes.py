"""The one tool of these tests, and a turn that has it."""

from __future__ import annotations

from pydantic import JsonValue

from seam.tools_def import Descriptor, Outcome, effects
from seam.tools_def.testing import ScriptedTurn

PARAMETERS: JsonValue = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}
ECHO = Descriptor(
    name="echo", description="Say it again.", parameters=PARAMETERS, effects=effects(), source="plugin:x"
)


def turn_with(*outcomes: Outcome) -> ScriptedTurn:
    """A turn with the tool `echo`; every call gets the next outcome."""
    return ScriptedTurn([ECHO], *outcomes, notes="echo repeats.")
