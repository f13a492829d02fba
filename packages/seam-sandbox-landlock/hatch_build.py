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
FLAGS = [
    "-std=gnu11", "-Os", "-Wall", "-Wextra", "-ffreestanding", "-fno-builtin", "-fno-stack-protector",
    "-fno-asynchronous-unwind-tables", "-fno-pic", "-no-pie", "-static", "-nostdlib", "-s",
    "-Wl,-z,norelro,--build-id=none",
]  # fmt: skip
MACHINES = ("x86_64", "aarch64")
PURE = "SEAM_PURE_WHEEL"
"""Set to 1: build without the launcher even where it could be compiled."""


class LauncherHook(BuildHookInterface):
    """Compiles `launcher/confine.c` into the package and marks the wheel with its platform.

    The binary uses no C library, so one wheel serves glibc and musl systems of the machine's kind."""

    def initialize(self, version, build_data):
        machine = platform.machine()
        compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if (
            os.environ.get(PURE) == "1"
            or not sys.platform.startswith("linux")
            or machine not in MACHINES
            or not compiler
        ):
            return
        binary = Path(self.root, BINARY)
        binary.parent.mkdir(exist_ok=True)
        fresh = binary.with_name(f"{binary.name}.{os.getpid()}")
        source = str(Path(self.root, "launcher", "confine.c"))
        command = [*compiler.split(), *FLAGS, "-o", str(fresh), source]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            fresh.unlink(missing_ok=True)
            self.app.display_warning(
                f"the launcher was not compiled, the wheel is pure Python:\n{done.stderr}"
            )
            return
        fresh.replace(binary)  # at once: an editable installation may be starting it this very moment
        build_data["artifacts"].append(BINARY)
        build_data["pure_python"] = False
        platforms = f"manylinux_2_17_{machine}.manylinux2014_{machine}.musllinux_1_1_{machine}"
        build_data["tag"] = f"py3-none-{platforms}"
