"""The command `seam-deplint`."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from seam.deplint._baseline import BaselineError, read_baseline, write_baseline
from seam.deplint._check import Report, judge
from seam.deplint._collect import NotChecked
from seam.deplint.cli._arguments import parse
from seam.deplint.cli._session import Session, begin
from seam.deplint.settings import ConfigurationError

CLEAN, FINDINGS, NOT_CHECKED = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns 0 clean, 1 findings, 2 could not check."""
    options = parse(arguments)
    commands: dict[str, Callable[[argparse.Namespace], int]] = {
        "check": _check,
        "baseline": _baseline,
        "explain": _explain,
        "why": _why,
        "graph": _graph,
        "init": _init,
    }
    try:
        return commands[options.command](options)
    except (ConfigurationError, NotChecked, BaselineError) as problem:
        sys.stderr.write(f"seam-deplint: {problem}\n")
        return NOT_CHECKED
    except BrokenPipeError:
        # the reader has gone; what is still buffered goes nowhere, without a second complaint at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOT_CHECKED
    except Exception:
        # a fault of the linter must not look like a finding: the traceback is shown, and the code says "not checked"
        traceback.print_exc()
        return NOT_CHECKED


def _check(options: argparse.Namespace) -> int:
    session = begin(options)
    path = options.baseline or session.settings.baseline
    known: frozenset[str] = frozenset()
    if path:
        session = replace(session, settings=replace(session.settings, baseline=path))
        known = frozenset(read_baseline(session.base / path))
    report = judge(session.material, session.settings, known)
    _deliver(options, report)
    return FINDINGS if report.failed else CLEAN


def _deliver(options: argparse.Namespace, report: Report) -> None:
    text = _rendered(options, report, options.format)
    if options.output:
        Path(options.output).write_text(text, "utf-8")
        text = _rendered(options, report, "text")
    sys.stdout.write(text)


def _rendered(options: argparse.Namespace, report: Report, form: str) -> str:
    from seam.deplint import report as reports

    if form == "text":
        wanted = options.color == "always"
        wanted = wanted or (options.color == "auto" and sys.stdout.isatty() and "NO_COLOR" not in os.environ)
        return reports.render_text(report, color=wanted, advice=options.advice)
    renderers = {"json": reports.render_json, "sarif": reports.render_sarif, "github": reports.render_github}
    return renderers[form](report)


def _baseline(options: argparse.Namespace) -> int:
    session = begin(options)
    if not session.settings.baseline:
        raise BaselineError('no baseline is configured: set `baseline = "deplint-baseline.json"`')
    report = judge(session.material, session.settings)
    path = session.base / session.settings.baseline
    number = write_baseline(path, report.findings, create=options.create)
    sys.stdout.write(f"{path}: {number} findings\n")
    return CLEAN


def _explain(options: argparse.Namespace) -> int:
    from seam.deplint.cli._explain import explain

    sys.stdout.write(explain(options.rule))
    return CLEAN


def _why(options: argparse.Namespace) -> int:
    from seam.deplint.cli._why import why

    text, connected = why(_session(options), options.source, options.target)
    sys.stdout.write(text)
    return CLEAN if connected else FINDINGS


def _graph(options: argparse.Namespace) -> int:
    from seam.deplint.graph import render_graph

    session = _session(options)
    text = render_graph(session.material.views[0], options.format)
    if options.output:
        Path(options.output).write_text(text, "utf-8")
    else:
        sys.stdout.write(text)
    return CLEAN


def _session(options: argparse.Namespace) -> Session:
    session = begin(options)
    if not session.material.views:
        raise NotChecked("no distribution was found")
    return session


def _init(options: argparse.Namespace) -> int:
    from seam.deplint.cli._init import propose

    root = Path(options.path)
    text = propose(root)
    if not options.write:
        sys.stdout.write(text)
        return CLEAN
    target = root / "seam-deplint.toml"
    if target.exists():
        raise NotChecked(f"{target} is there already; remove it, or print the proposal without --write")
    target.write_text(text, "utf-8")
    sys.stdout.write(f"wrote {target}\n")
    return CLEAN
