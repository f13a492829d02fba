"""Build hook: compile the launcher where a C compiler is present; without one the wheel is pure Python."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BINARY = "src/seam/sandbox_landlock/_bin/seam-confine"
FLAGS = ["-std=c11", "-O2", "-Wall", "-Wextra", "-static", "-s", "-Wl,--gc-sections,--build-id=none"]
MACHINES = ("x86_64", "aarch64")
PURE = "SEAM_PURE_WHEEL"
"""Set to 1: build without the launcher even where it could be compiled."""


class LauncherHook(BuildHookInterface):
    """Compiles `launcher/confine.c` into the package and marks the wheel with its platform.

    The binary is linked statically, so one wheel serves glibc and musl systems of the machine's kind."""

    def initialize(self, version, build_data):
        binary = Path(self.root, BINARY)
        binary.unlink(missing_ok=True)
        machine = platform.machine()
        compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if (
            os.environ.get(PURE) == "1"
            or not sys.platform.startswith("linux")
            or machine not in MACHINES
            or not compiler
        ):
            return
        binary.parent.mkdir(exist_ok=True)
        source = str(Path(self.root, "launcher", "confine.c"))
        command = [*compiler.split(), *FLAGS, "-o", str(binary), source]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            binary.unlink(missing_ok=True)
            self.app.display_warning(
                f"the launcher was not compiled, the wheel is pure Python:\n{done.stderr}"
            )
            return
        build_data["pure_python"] = False
        platforms = f"manylinux_2_17_{machine}.manylinux2014_{machine}.musllinux_1_1_{machine}"
        build_data["tag"] = f"py3-none-{platforms}"
