"""The chain behind the key `tools`, the integration, and a journal in memory."""

from seam.tools_runtime._memory_journal import MemoryJournal
from seam.tools_runtime._memory_plugin import MemoryJournalConfig, memory

__all__ = ["MemoryJournal", "MemoryJournalConfig", "memory"]
