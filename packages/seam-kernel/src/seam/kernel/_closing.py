"""How a scope ends, and the whole kernel."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

import anyio

from seam.kernel._node import Node

if TYPE_CHECKING:
    from seam.kernel._engine import Engine
    from seam.kernel._place import Place


def begin_close(place: Place) -> None:
    """Close a scope in a task of the kernel, so that a caller who gives up does not leave it half closed."""
    if place.closing:
        return
    for each in place.subtree():
        each.closing = True
    place.closing_by_itself = True
    if place.engine.running:
        place.engine.spawn(partial(_close_family, place), f"close {place.name}")
    else:
        place.gone.set()


async def shut_down(engine: Engine, root: Place) -> None:
    """End everything, whoever holds it."""
    begin_close(root)
    await root.gone.wait()
    rest = list(engine.nodes)  # held by name only
    engine.stop(rest, final=True)
    for node in rest:
        await node.ended.wait()
    engine.shut()


async def _close_family(place: Place) -> None:
    """Close everything below a scope, the deepest first, and then itself."""
    with anyio.CancelScope(shield=True):
        for each in reversed(list(place.subtree())):
            if each.closing_by_itself and each is not place:
                await each.gone.wait()
            elif not each.gone.is_set():
                await _close(each)


async def _close(place: Place) -> None:
    rows = list(place.rows)
    leaving = _not_needed(rows)
    for row in rows:
        if row not in leaving:
            _let_go(place, row)
    place.engine.stop(reversed(leaving), final=True)
    for node in leaving:
        await node.ended.wait()
        place.closing_faults.extend(node.final_faults)
    if place.parent is not None:
        place.parent.below.pop(place, None)
    place.gone.set()


def _let_go(place: Place, row: Node) -> None:
    """Unlist a family that lives on, elsewhere or held by name."""
    del row.own_places[place]
    del place.rows[row]
    home = next(iter(row.own_places), place.parent or place)
    for node in row.family():
        place.leave(node)
        if node.home is place:
            node.home = home
    place.engine.agenda.add(row.family())


def _not_needed(rows: Iterable[Node]) -> dict[Node, None]:
    """Those without another scope, without a hold, and without use by anybody who is needed."""
    alone = {row: None for row in rows if all(place.closing for place in row.own_places)}
    needed = [
        row
        for row in alone
        if any(node.holds or any(user.top not in alone for user in node.dependents) for node in row.family())
    ]
    while needed:
        row = needed.pop()
        if row in alone:
            del alone[row]
            needed += [
                used.node.top for node in row.family() if node.run for used in node.run.bindings.values()
            ]
    return alone
