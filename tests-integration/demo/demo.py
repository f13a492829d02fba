"""The main job on real input: a tool call goes through a deployment file to an implementer that only this file names, and back."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
COMMAND = "echo hello from $(uname -s); sort -n <<'END' | tail -1\n10\n9\n100\nEND"


def run(*arguments: str, cwd: Path) -> None:
    """Show a command of `seam` and what it prints; the demo fails where it does."""
    shown = " ".join(
        argument if argument.isalnum() or argument.startswith("-") else repr(argument)
        for argument in arguments
    )
    print(f"\n$ seam {shown}", flush=True)
    subprocess.run([sys.executable, "-m", "seam.host", *arguments], cwd=cwd, check=True)


def main() -> None:
    """Plan, schema, a call, and the record of it."""
    with tempfile.TemporaryDirectory(prefix="seam-demo-") as folder:
        place = Path(folder)
        shutil.copy(HERE / "deployment.toml", place)
        print((place / "deployment.toml").read_text("utf-8"), flush=True)
        run("plan", "-d", "deployment.toml", cwd=place)
        run("call", "shell", json.dumps({"command": COMMAND}), "--yes", "-d", "deployment.toml", cwd=place)
        run("journal", "list", "-d", "deployment.toml", cwd=place)


if __name__ == "__main__":
    main()
