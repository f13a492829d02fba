"""The floor: a C program that starts a shell with posix_spawn, reads its one pipe and waits."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

_SOURCE = r"""
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <fcntl.h>
extern char **environ;
int main(int argc, char **argv) {
    char *child[] = {"bash", "-c", "true", NULL};
    for (int i = 0; i < atoi(argv[1]); i++) {
        struct timespec a, b;
        int p[2];
        char buffer[4096];
        pid_t pid;
        posix_spawn_file_actions_t actions;
        clock_gettime(CLOCK_MONOTONIC, &a);
        if (pipe2(p, O_CLOEXEC)) return 1;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, p[1], 1);
        if (posix_spawnp(&pid, "bash", &actions, NULL, child, environ)) return 1;
        posix_spawn_file_actions_destroy(&actions);
        close(p[1]);
        while (read(p[0], buffer, sizeof buffer) > 0) {}
        close(p[0]);
        waitpid(pid, NULL, 0);
        clock_gettime(CLOCK_MONOTONIC, &b);
        printf("%ld\n", (b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec);
    }
    return 0;
}
"""


def seconds(count: int) -> list[float] | None:
    """Return how long each of `count` runs of `bash -c true` took; `None` where the machine has no C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory(prefix="seam-bench-") as folder:
        source, program = Path(folder) / "spawn.c", Path(folder) / "spawn"
        source.write_text(_SOURCE)
        subprocess.run([compiler, "-O2", "-D_GNU_SOURCE", "-o", program, source], check=True)
        output = subprocess.run([program, str(count)], check=True, capture_output=True, text=True).stdout
    return [int(line) / 1e9 for line in output.split()]
