"""A first deployment, made of what is installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel

from seam.host._deployment import Location, Row
from seam.host._inventory import Inventory, Provider, RowError
from seam.host._loading import load
from seam.kernel import Plugin

WANTED = ("tools", "permissions")
"""Keys that a deployment has although no plugin requires them: the host asks for them itself."""

PROCESS = ("journal",)
"""Keys whose implementer lives as long as the process."""

HOST = "turns"
"""The key that the host provides; a consumer that requires it lets calls in: it is a door."""


class Starter:
    """Chooses rows and writes them.

    Args:
        inventory: what is installed.
        chosen: mechanism by key, where the caller wants another one than the first.
    """

    def __init__(self, inventory: Inventory, chosen: Mapping[str, str]) -> None:
        self._inventory = inventory
        self._chosen = chosen
        self._rows: dict[str, list[str]] = {}
        self._aside: list[str] = []
        self._provided: set[str] = {HOST}

    def text(self, workspace: str) -> str:
        """The deployment as TOML."""
        for key in (*PROCESS, *WANTED):
            self._implement(key, ())
        consumers = [
            line
            for provider in self._inventory.providers("seam.consumer")
            for line in self._consume(provider)
        ]
        head = [
            "# A deployment of Seam: which implementer stands behind each capability, and who uses it.",
            "# `seam plan` shows what becomes of it, `seam call TOOL JSON` uses it, `seam serve` keeps it running.",
            "",
            "[agents.default]",
            f"workspace = {_quoted(workspace)}  # a path of the world that the agent works in",
        ]
        rows = [line for lines in self._rows.values() for line in ("", *lines)]
        return "\n".join([*head, *rows, *consumers, *self._aside, ""])

    def _consume(self, provider: Provider) -> list[str]:
        name = provider.entry.name
        plugin = self._plugin("seam.consumer", provider)
        if isinstance(plugin, str):
            self._aside += ["", f"# [consume.{name}]  # {provider} cannot be used: {plugin}"]
            return []
        keys = [service.service_key for service in plugin.requires]
        options = [field for field, info in plugin.config.model_fields.items() if info.is_required()]
        if HOST in keys:
            self._aside += ["", f"# [process.serve.{name}]  # a door: `seam serve` opens it"]
            self._aside += [f"# {option} = ..." for option in options]
            return []
        missing = [key for key in keys if not self._implement(key, ())]
        if missing:
            why = f"needs {', '.join(map(repr, missing))}, which nothing installed implements"
            self._aside += ["", f"# [consume.{name}]  # {why}"]
            return []
        if options:
            self._aside += ["", f"# [consume.{name}]", *(f"# {option} = ..." for option in options)]
            return []
        for service in plugin.optional:
            self._implement(service.service_key, ())
        return ["", f"[consume.{name}]"]

    def _implement(self, key: str, path: tuple[str, ...]) -> bool:
        """Have a row for a key, and for everything that it stands on; answers whether there is one."""
        if key in self._provided:
            return True
        if key in path:
            return False
        group = f"seam.implementer.{key}"
        for provider in self._ranked(group, self._chosen.get(key)):
            plugin = self._plugin(group, provider)
            if isinstance(plugin, str) or any(
                info.is_required() for info in plugin.config.model_fields.values()
            ):
                continue
            if not all(self._implement(service.service_key, (*path, key)) for service in plugin.requires):
                continue
            self._provided |= {service.service_key for service in plugin.provides} | {key}
            self._write(key, provider)
            for service in plugin.optional:
                self._implement(service.service_key, (*path, key))
            return True
        return False

    def _write(self, key: str, provider: Provider) -> None:
        others = [
            other.entry.name
            for other in self._inventory.providers(provider.entry.group)
            if other.entry.name != provider.entry.name
        ]
        note = f"  # installed as well: {', '.join(dict.fromkeys(others))}" if others else ""
        table = f"process.{key}" if key in PROCESS else f"implement.{key}"
        self._rows[key] = [f"[{table}]", f"use = {_quoted(provider.entry.name)}{note}"]
        same = [
            p for p in self._inventory.providers(provider.entry.group) if p.entry.name == provider.entry.name
        ]
        if len(same) > 1:
            self._rows[key].append(f"distribution = {_quoted(provider.distribution)}")

    def _ranked(self, group: str, wanted: str | None) -> list[Provider]:
        """The wanted mechanism, or all: those whose distribution is made for this key before those that bring it along."""
        offered = self._inventory.providers(group)
        if wanted is not None:
            return [provider for provider in offered if provider.entry.name == wanted]
        return sorted(offered, key=lambda provider: (self._breadth(provider), provider.entry.name))

    def _breadth(self, provider: Provider) -> int:
        found = self._inventory.distribution(provider.distribution)
        return 0 if found is None else len(found.entry_points)

    def _plugin(self, group: str, provider: Provider) -> Plugin[BaseModel] | str:
        """The plugin, or why it cannot be had."""
        implementer = group.startswith("seam.implementer.")
        name = group.removeprefix("seam.implementer.") if implementer else provider.entry.name
        row = Row(
            section="implement" if implementer else "consume",
            table=name,
            name=name,
            use=provider.entry.name,
            distribution=provider.distribution,
            where=Location(file=Path("new")),
        )
        try:
            return load(row, self._inventory.resolve(row))
        except RowError as error:
            return error.problem.text.splitlines()[0]


@dataclass(frozen=True)
class UnknownChoice(Exception):
    """A mechanism was chosen that nothing installed provides; `known` lists what there is."""

    key: str
    mechanism: str
    known: tuple[str, ...]


def check_choices(inventory: Inventory, chosen: Mapping[str, str]) -> None:
    """Prove that every chosen mechanism is installed.

    Raises:
        UnknownChoice: one is not.
    """
    for key, mechanism in chosen.items():
        known = tuple(provider.entry.name for provider in inventory.providers(f"seam.implementer.{key}"))
        if mechanism not in known:
            raise UnknownChoice(key, mechanism, known)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
