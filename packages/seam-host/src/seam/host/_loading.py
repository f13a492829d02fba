"""Import a plugin, and check a row's configuration against it. Whatever its code raises is a sentence about that row."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from pydantic import BaseModel

from seam.host._deployment import Row
from seam.host._inventory import Provider, RowError, row_problem
from seam.host._layer import suggestion
from seam.host._layer_shape import ROW_WORDS
from seam.host._outcomes import RowProblem
from seam.kernel import InvalidConfig, Plugin, deployment_paths


class PluginUnloadable(RowError):
    """A plugin cannot be imported, or is not what its row needs. The cause is kept."""

    code = "PLUGIN_UNLOADABLE"


class NotAPlugin(PluginUnloadable):
    """What an entry point names can be used from code (a framework adapter), not from a row. Facts: `problem`."""

    code = "NOT_A_PLUGIN"


class ConfigRefused(RowError):
    """A row's configuration does not fit its plugin. Facts: `problem`, `problems` (one RowProblem for each value)."""

    code = "ROW_CONFIG_INVALID"
    problems: tuple[RowProblem, ...]


def load(row: Row, provider: Provider) -> Plugin[BaseModel]:
    """Import the plugin of a row.

    Raises:
        PluginUnloadable: its code raised (`SystemExit` included), it is not a plugin, or it does not provide the row's key.
    """
    found = _import(row, provider)
    if not isinstance(found, Plugin):
        what = "class" if isinstance(found, type) else type(found).__name__
        text = f"{provider.entry} of {provider} is a {what}, not a plugin; it is for use from code"
        raise NotAPlugin.about(row_problem(row, text, "take the row out", "failed"))
    loaded = cast("Plugin[BaseModel]", found)
    keys = {service.service_key for service in loaded.provides}
    if row.key is not None and row.key not in keys:
        listed = ", ".join(sorted(keys)) or "nothing"
        text = f"{provider} says that {row.use!r} implements {row.key!r}, but the plugin provides {listed}"
        raise PluginUnloadable.about(row_problem(row, text, "tell its author", "failed"))
    return loaded


def row_paths(row: Row, plugin: Plugin[BaseModel]) -> dict[str, Path]:
    """The row's paths of this machine, absolute; each starts at the file that says it, a default at the file of the row."""
    found: dict[str, Path] = {}
    for name in deployment_paths(plugin.config):
        given = row.config.get(name, _default(plugin.config, name))
        if isinstance(
            given, (str, Path)
        ):  # anything else is absent, or refused by the model in its own words
            start = row.place(name).file.parent
            found[name] = (start / Path(given).expanduser()).absolute()
    return found


def _default(model: type[BaseModel], name: str) -> object:
    return next(
        (field.default for known, field in model.model_fields.items() if (field.alias or known) == name), None
    )


def check_config(row: Row, plugin: Plugin[BaseModel], config: Mapping[str, object]) -> BaseModel:
    """Validate a row's configuration.

    Args:
        config: the row's, with paths made absolute.

    Raises:
        ConfigRefused: each problem names the file, the line and the key that says the value; values are not repeated.
    """
    try:
        return plugin.configure(config)
    except InvalidConfig as invalid:
        found = cast("list[tuple[str, str]]", invalid.facts["problems"])
        problems = tuple(_config_problem(row, plugin, location, text) for location, text in found)
        raise ConfigRefused(
            "\n  ".join(str(problem) for problem in problems), problem=problems[0], problems=problems
        ) from None


def _import(row: Row, provider: Provider) -> object:
    importlib.invalidate_caches()
    try:
        found: object = importlib.import_module(provider.entry.module)
        for name in filter(None, provider.entry.attribute.split(".")):
            found = getattr(found, name)
    except KeyboardInterrupt:
        raise
    except (
        BaseException
    ) as error:  # a plugin may raise anything, SystemExit included; only the person's Ctrl-C is not its
        text = f"{provider.entry} of {provider} could not be imported: {_told(error)}"
        raise PluginUnloadable.about(row_problem(row, text, _remedy(provider, error), "failed")) from error
    return found


def _told(error: BaseException) -> str:
    sentence = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    trace, place = error.__traceback__, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith("<frozen") and file not in (__file__, importlib.__file__):
            place = f" ({file}:{trace.tb_lineno})"
        trace = trace.tb_next
    return sentence + place


def _remedy(provider: Provider, error: BaseException) -> str:
    if getattr(sys.modules.get("seam"), "__file__", None) is not None:
        return "another distribution owns the package `seam` in this environment; `seam doctor` names it"
    again = f"pip install --force-reinstall {provider.distribution}"
    if isinstance(error, ModuleNotFoundError) and error.name is not None:
        own = provider.entry.module
        if own == error.name or own.startswith(f"{error.name}."):
            return f"its files are gone; install it again ({again}) or remove it"
        return f"it needs the module {error.name!r}, which is not there: {again}"
    return f"install another version of {provider.distribution}, or take the row out (enabled = false)"


def _config_problem(row: Row, plugin: Plugin[BaseModel], location: str, text: str) -> RowProblem:
    fields = [field.alias or name for name, field in plugin.config.model_fields.items()]
    whole = location == "(whole)"
    place = row.where if whole else row.place(location)
    remedy = ""
    if not whole and "." not in location and location not in fields:
        text, remedy = f"there is no option {location!r}", suggestion(location, [*fields, *ROW_WORDS])
    return RowProblem(
        row=row.table if whole else f"{row.table}.{location}",
        plugin=plugin.name,
        key=row.key,
        text=text if remedy else _plain(text),
        remedy=remedy,
        where=place.spot,
    )


def _plain(message: str) -> str:
    """pydantic's sentence without its preamble."""
    text = message.removeprefix("Value error, ").removeprefix("Assertion failed, ")
    return text[:1].lower() + text[1:]
