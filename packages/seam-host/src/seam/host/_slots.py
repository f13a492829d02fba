"""Where each row of a deployment gets an instance, and what makes an instance the same as before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel

from seam.kernel import Plugin


@dataclass(frozen=True)
class RowPlugin:
    """A row with the plugin that it names.

    Attributes:
        table: the row's table in the deployment, for example `implement.exec`.
        plugin: the plugin, loaded.
        config: the row's configuration, paths made absolute.
        distribution: where it comes from: name and version, or the digest of a source file.
        optional: left out instead of rejecting the candidate.
        salt: digest of what lies under its watched paths.
    """

    table: str
    plugin: Plugin[BaseModel]
    config: Mapping[str, object]
    distribution: str
    optional: bool = False
    salt: str = ""

    @property
    def provides(self) -> frozenset[str]:
        """Keys that it provides."""
        return frozenset(service.service_key for service in self.plugin.provides)

    @property
    def uses(self) -> frozenset[str]:
        """Keys that it requires, or takes where they are there."""
        return frozenset(service.service_key for service in (*self.plugin.requires, *self.plugin.optional))


@dataclass(frozen=True)
class Slot:
    """One instance that a generation has.

    Attributes:
        name: unique in the generation: the row's table, behind `<agent>/` in a realm.
        agent: the realm that it is in, or None.
        row: the row that it is of.
        identity: the same for two generations exactly when plugin, distribution, configuration and every instance that it
            requires are the same: then the instance is carried over.
    """

    name: str
    agent: str | None
    row: RowPlugin
    identity: str


@dataclass(frozen=True)
class Assembly:
    """All instances of a generation, in listing order, realms last.

    Attributes:
        isolated: for each realm, the keys that do not resolve above it.
    """

    slots: tuple[Slot, ...]
    isolated: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    @property
    def digest(self) -> str:
        """Two assemblies with one digest are the same."""
        return _digest([[slot.name, slot.identity] for slot in self.slots])


def assemble(
    base: Sequence[RowPlugin], realms: Mapping[str, Sequence[RowPlugin]], process: Mapping[str, str]
) -> Assembly:
    """Place every row.

    An agent with implementers of its own gets a realm: those rows, and an instance of its own of every row that uses a key of
    the realm, directly or through others; everything else it shares.

    Args:
        base: the rows for everybody.
        realms: by agent, the rows that replace a key's implementer for that agent only.
        process: identity by key of what the process provides.
    """
    shared = _place(None, base, {**process})
    slots = list(shared.values())
    isolated: dict[str, frozenset[str]] = {}
    for agent, own in realms.items():
        rows, keys = _realm_rows(base, own)
        isolated[agent] = keys
        outside = dict(process) | {
            key: slot.identity for slot in shared.values() for key in slot.row.provides if key not in keys
        }
        slots += _place(agent, rows, outside).values()
    return Assembly(tuple(slots), isolated)


def _realm_rows(
    base: Sequence[RowPlugin], own: Sequence[RowPlugin]
) -> tuple[list[RowPlugin], frozenset[str]]:
    keys = frozenset(key for row in own for key in row.provides)
    rows = list(own)
    waiting: list[RowPlugin] = [row for row in base if not row.provides & keys]
    while True:
        drawn: list[RowPlugin] = [row for row in waiting if row.uses & keys]
        if not drawn:
            return rows, keys
        rows += drawn
        waiting = [row for row in waiting if row not in drawn]
        keys |= frozenset(key for row in drawn for key in row.provides)


def _place(agent: str | None, rows: Iterable[RowPlugin], outside: Mapping[str, str]) -> dict[str, Slot]:
    listed = list(rows)
    providers = {key: row for row in listed for key in row.provides}
    known: dict[str, str] = {}

    def identity(row: RowPlugin, path: tuple[str, ...]) -> str:
        if row.table in known:
            return known[row.table]
        if row.table in path:
            return "cycle"  # the kernel reports it by name when nothing of it starts
        uses = {
            key: identity(providers[key], (*path, row.table)) if key in providers else outside.get(key)
            for key in sorted(row.uses)
        }
        found = _digest(
            [
                row.table,
                agent,
                row.plugin.name,
                row.plugin.module,
                row.distribution,
                _plain(row.config),
                row.salt,
                uses,
            ]
        )
        known[row.table] = found
        return found

    return {
        row.table: Slot(
            name=row.table if agent is None else f"{agent}/{row.table}",
            agent=agent,
            row=row,
            identity=identity(row, ()),
        )
        for row in listed
    }


def _plain(config: Mapping[str, object]) -> str:
    return json.dumps(config, sort_keys=True, default=str)


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
