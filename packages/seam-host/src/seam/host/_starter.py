"""A first deployment, made of what is installed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pydantic import BaseModel

from seam.host._deployment import Location, Row
from seam.host._inventory import Inventory, Provider, RowError
from seam.host._loading import NotAPlugin, load
from seam.kernel import InvalidConfig, Plugin, deployment_paths

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
        if plugin is None:
            return []
        if isinstance(plugin, str):
            self._aside += ["", f"# [consume.{name}]  # {provider} cannot be used: {plugin}"]
            return []
        options, why = _options(plugin, name)
        if options is None:
            table = "process.serve" if _is_door(plugin) else "consume"
            self._aside += ["", f"# [{table}.{name}]  # {why}"]
            return []
        if _is_door(plugin):
            lines = [f"[process.serve.{name}]  # a door: `seam serve` opens it", *options]
            self._aside += ["", *(f"# {line}" for line in lines)]
            return []
        missing = [
            service.service_key for service in plugin.requires if not self._implement(service.service_key, ())
        ]
        if missing:
            why = f"needs {', '.join(map(repr, missing))}, which nothing installed implements"
            self._aside += ["", f"# [consume.{name}]  # {why}"]
            return []
        for service in plugin.optional:
            self._implement(service.service_key, ())
        return ["", f"[consume.{name}]", *options]

    def _implement(self, key: str, path: tuple[str, ...]) -> bool:
        """Have a row for a key, and for everything that it stands on; answers whether there is one."""
        if key in self._provided:
            return True
        if key in path:
            return False
        group = f"seam.implementer.{key}"
        for provider in self._ranked(group, self._chosen.get(key)):
            plugin = self._plugin(group, provider)
            if plugin is None or isinstance(plugin, str):
                continue
            options, _ = _options(plugin, f"{key}.{provider.entry.name}")
            if options is None:
                continue
            if not all(self._implement(service.service_key, (*path, key)) for service in plugin.requires):
                continue
            self._provided |= {service.service_key for service in plugin.provides} | {key}
            self._write(key, provider, options)
            for service in plugin.optional:
                self._implement(service.service_key, (*path, key))
            return True
        return False

    def _write(self, key: str, provider: Provider, options: list[str]) -> None:
        others = [
            other.entry.name
            for other in self._inventory.providers(provider.entry.group)
            if other.entry.name != provider.entry.name
        ]
        note = f"  # installed as well: {', '.join(dict.fromkeys(others))}" if others else ""
        table = f"process.{key}" if key in PROCESS else f"implement.{key}"
        self._rows[key] = [f"[{table}]", f"use = {_quoted(provider.entry.name)}{note}"]
        self._rows[key] += options
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

    def _plugin(self, group: str, provider: Provider) -> Plugin[BaseModel] | str | None:
        """The plugin; why it cannot be had; or None for what is used from code only."""
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
        except NotAPlugin:
            return None
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


def _is_door(plugin: Plugin[BaseModel]) -> bool:
    return any(service.service_key == HOST for service in plugin.requires)


def _options(plugin: Plugin[BaseModel], file: str) -> tuple[list[str] | None, str]:
    """The lines without which the plugin refuses to start, or why they cannot be known; a file of its own gets a name."""
    fields = plugin.config.model_fields
    required = [info.alias or name for name, info in fields.items() if info.is_required()]
    given = {name: file for name in deployment_paths(plugin.config) if name in required}
    try:
        plugin.configure(given)
    except InvalidConfig as invalid:
        asked = [name for name in required if name not in given]
        if asked:
            return None, f"needs {', '.join(asked)}"
        problems = cast("list[tuple[str, str]]", invalid.facts["problems"])
        return None, "; ".join(text.removeprefix("Value error, ") for _, text in problems)
    return [f"{name} = {_quoted(value)}" for name, value in given.items()], ""


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
