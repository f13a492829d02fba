"""Errors become a message and an exit code; no traceback for what a person can mend."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec, cast

import typer

from seam.host.cli._exits import Exit

if TYPE_CHECKING:
    from seam.kernel import SeamError

P = ParamSpec("P")


def reported(command: Callable[P, int | None]) -> Callable[P, None]:
    """Run a command; answer its exit code, and turn Seam's errors into a message on standard error.

    A command with a parameter `as_json` prints its error as JSON on standard output as well.
    """

    @functools.wraps(command)
    def run(*arguments: P.args, **options: P.kwargs) -> None:
        from seam.kernel import SeamError

        try:
            code = command(*arguments, **options)
        except SeamError as error:
            code = say(error, as_json=options.get("as_json") is True)
        except BrokenPipeError:
            # the reader went away (`seam journal list | head`); Python would complain once more while it ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 128 + 13
        except KeyboardInterrupt:
            code = 128 + 2
        if code:
            raise typer.Exit(int(code))

    return run


def say(error: SeamError, *, as_json: bool) -> int:
    """Print an error; answer its exit code."""
    from seam.host.cli._screen import err, print_json
    from seam.host.cli._visible import visible

    if as_json:
        print_json({"error": {"code": error.code, "message": error.message, **_facts(error)}})
    err().print(f"seam: {visible(error.message)}", style="red")
    return exit_code(error)


def exit_code(error: SeamError) -> int:
    """The exit code that belongs to an error."""
    from seam.host._inventory import RowError
    from seam.host._outcomes import PrepareFailed

    if isinstance(error, (RowError, PrepareFailed)):
        return Exit.INCOMPLETE
    return Exit.DEPLOYMENT if error.code == "DEPLOYMENT_INVALID" else Exit.ERROR


def _facts(error: SeamError) -> dict[str, object]:
    from pydantic import BaseModel

    problems = error.facts.get("problems", (error.facts.get("problem"),))
    if not isinstance(problems, tuple):
        return {}
    listed = cast("tuple[object, ...]", problems)
    return {"problems": [item.model_dump(mode="json") for item in listed if isinstance(item, BaseModel)]}
