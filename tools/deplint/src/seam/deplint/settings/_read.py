"""Reading the configuration from `[tool.seam-deplint]` or from a file `seam-deplint.toml`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from seam.deplint.facts import canonical
from seam.deplint.settings._model import Ignore, Role, Settings, Severity
from seam.deplint.settings._presets import PRESETS
from seam.deplint.sources import Table, TableError, read_toml

FILE = "seam-deplint.toml"
_SPECIFIERS = ("compatible", "satisfiable", "any")
_KEYS = frozenset(
    [
        "preset",
        "members",
        "exclude",
        "family",
        "namespaces",
        "group-prefix",
        "roles",
        "leaf",
        "specifiers",
        "present-extras",
        "trains",
        "fail-on",
        "severity",
        "modules",
        "ignore",
        "baseline",
    ]
)
_ROLE_KEYS = frozenset(
    [
        "names",
        "paths",
        "groups",
        "key-from",
        "may-require",
        "may-extend",
        "face",
        "owns-key",
        "suffixes",
        "color",
    ]
)
_IGNORE_KEYS = frozenset(["rule", "reason", "distribution", "subject", "path"])


class ConfigurationError(Exception):
    """The configuration cannot be used; the text names file, location and remedy."""


def find_settings(start: Path, known_rules: Iterable[str]) -> tuple[Settings, Path]:
    """The settings that govern a folder, and the folder that they stand in; the nearest file upwards wins."""
    start = start.resolve()
    for folder in (start, *start.parents):
        own = folder / FILE
        if own.is_file():
            return read_settings(own, known_rules), folder
        manifest = folder / "pyproject.toml"
        if manifest.is_file() and "[tool.seam-deplint" in manifest.read_text("utf-8", errors="replace"):
            return read_settings(manifest, known_rules), folder
    return Settings(), start


def read_settings(path: Path, known_rules: Iterable[str]) -> Settings:
    """Read one configuration file; raises `ConfigurationError`."""
    try:
        root = read_toml(path)
        table = root.table("tool").table("seam-deplint") if path.name == "pyproject.toml" else root
        return _settings(table, path.name, frozenset(known_rules))
    except TableError as problem:
        raise ConfigurationError(f"{path}: {problem}") from problem


def _settings(table: Table, name: str, known_rules: frozenset[str]) -> Settings:
    _only(table, _KEYS)
    preset = table.text("preset")
    if preset and preset not in PRESETS:
        raise TableError(
            f"{table.at('preset')}: no preset {preset!r}; there are {', '.join(sorted(PRESETS))}"
        )
    base = PRESETS.get(preset, Settings())
    specifiers = table.text("specifiers", base.specifiers)
    if specifiers not in _SPECIFIERS:
        raise TableError(
            f"{table.at('specifiers')} must be one of {', '.join(_SPECIFIERS)}, not {specifiers!r}"
        )
    settings = replace(
        base,
        members=table.texts("members", base.members),
        exclude=table.texts("exclude", base.exclude),
        family=table.texts("family", base.family),
        namespaces=table.texts("namespaces", base.namespaces),
        group_prefix=table.text("group-prefix", base.group_prefix),
        leaf=table.flag("leaf", base.leaf),
        specifiers=specifiers,
        trains=_trains(table, base.trains),
        present_extras=table.texts("present-extras", base.present_extras),
        fail_on=_severity(table, "fail-on", base.fail_on),
        severity=dict(base.severity) | _severities(table.table("severity"), known_rules),
        modules={key: canonical(table.table("modules").text(key)) for key in table.table("modules")},
        ignores=tuple(_ignore(row, known_rules) for row in table.tables("ignore")),
        baseline=table.text("baseline"),
        path=name,
    )
    return settings.with_roles(_roles(table.table("roles"), base.roles))


def _only(table: Table, known: frozenset[str]) -> None:
    for key in table:
        if key not in known:
            raise TableError(f"{table.at(key)}: unknown key; known are {', '.join(sorted(known))}")


def _roles(table: Table, base: tuple[Role, ...]) -> tuple[Role, ...]:
    roles = {role.name: role for role in base}
    for name in table:
        row = table.table(name)
        _only(row, _ROLE_KEYS)
        old = roles.get(name, Role(name))
        key_from = row.text("key-from", old.key_from)
        if key_from not in {"", "name", "group"}:
            raise TableError(f"{row.at('key-from')} must be name or group, not {key_from!r}")
        roles[name] = replace(
            old,
            names=row.texts("names", old.names),
            paths=row.texts("paths", old.paths),
            groups=row.texts("groups", old.groups),
            key_from=key_from,
            may_require=row.texts("may-require", old.may_require),
            may_extend=row.texts("may-extend", old.may_extend),
            face=row.flag("face", old.face),
            owns_key=row.flag("owns-key", old.owns_key),
            suffixes=row.texts("suffixes", old.suffixes),
            color=row.text("color", old.color),
            configured=any(key in row for key in ("names", "paths", "groups")),
        )
    for role in roles.values():
        for word, listed in (("may-require", role.may_require), ("may-extend", role.may_extend)):
            for other in listed:
                if other != "*" and other not in roles:
                    raise TableError(
                        f"{table.at(role.name)}.{word}: no role {other!r}; there are {', '.join(sorted(roles))}"
                    )
    return tuple(roles.values())


def _trains(table: Table, base: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    if "trains" not in table:
        return base
    found: list[tuple[str, ...]] = []
    for index, item in enumerate(table.array("trains")):
        found.append(Table({"train": item}, table.at(f"trains[{index}]")).texts("train"))
    return tuple(found)


def _severity(table: Table, key: str, default: Severity) -> Severity:
    text = table.text(key, default.name.lower())
    try:
        return Severity[text.upper()]
    except KeyError:
        known = ", ".join(item.name.lower() for item in Severity)
        raise TableError(f"{table.at(key)} must be one of {known}, not {text!r}") from None


def _severities(table: Table, known_rules: frozenset[str]) -> dict[str, Severity]:
    for key in table:
        _known_rule(key, table.at(key), known_rules)
    return {key: _severity(table, key, Severity.ERROR) for key in table}


def _ignore(row: Table, known_rules: frozenset[str]) -> Ignore:
    _only(row, _IGNORE_KEYS)
    read: Callable[[str], str] = row.text
    _known_rule(read("rule"), row.at("rule"), known_rules)
    if not read("reason").strip():
        raise TableError(f"{row.at('reason')} is missing: say why this finding may stay")
    distribution = read("distribution")
    return Ignore(read("rule"), read("reason"), distribution, read("subject"), read("path"), row.location)


def _known_rule(rule: str, location: str, known_rules: frozenset[str]) -> None:
    if rule not in known_rules:
        raise TableError(f"{location}: no rule {rule!r}; `seam-deplint explain` lists them")
