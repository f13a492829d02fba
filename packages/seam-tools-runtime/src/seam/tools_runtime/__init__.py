"""The chain behind the key `tools`, the integration, and a journal in memory."""

from seam.tools_runtime._config import RuntimeConfig
from seam.tools_runtime._integration import integration
from seam.tools_runtime._memory_journal import MemoryJournal
from seam.tools_runtime._memory_plugin import MemoryJournalConfig, memory
from seam.tools_runtime._plugin import runtime
from seam.tools_runtime._runtime import open_runtime

__all__ = [
    "MemoryJournal",
    "MemoryJournalConfig",
    "RuntimeConfig",
    "integration",
    "memory",
    "open_runtime",
    "runtime",
]
