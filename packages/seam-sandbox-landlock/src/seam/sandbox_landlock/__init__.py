"""Confines commands with Landlock and seccomp, without namespaces: a launcher in C or Python.

Beside the plugin and its runtime this package has what `seam-sandbox-bwrap` builds on: the launcher, its message,
the filter and the self-test.
"""

from seam.sandbox_landlock._abi import landlock_abi
from seam.sandbox_landlock._carve import inner_rules
from seam.sandbox_landlock._cgroups import ControlGroups, Group
from seam.sandbox_landlock._config import LandlockConfig, LauncherChoice
from seam.sandbox_landlock._folders import PrivateFolders, process_start
from seam.sandbox_landlock._gaps import limit_gaps
from seam.sandbox_landlock._launcher import Launcher, distrust, find_launcher
from seam.sandbox_landlock._membership import OWN_LACK, enter_group, limit_layers, make_group
from seam.sandbox_landlock._message import Message, read_launcher_status
from seam.sandbox_landlock._plugin import landlock, recorder
from seam.sandbox_landlock._preparation import MESSAGE, STATUS
from seam.sandbox_landlock._proxy import ProxySession, Recorder
from seam.sandbox_landlock._proxy_door import proxy_variables, serve_from_inside
from seam.sandbox_landlock._ruleset import close_ruleset, open_ruleset
from seam.sandbox_landlock._runtime import LandlockRuntime
from seam.sandbox_landlock._seccomp import Assembler, FilterProfile, assemble
from seam.sandbox_landlock._self_test import Trial, descriptors, self_test, try_out
from seam.sandbox_landlock._syscalls import ARCHITECTURES, Architecture

__all__ = [
    "ARCHITECTURES",
    "MESSAGE",
    "OWN_LACK",
    "STATUS",
    "Architecture",
    "Assembler",
    "ControlGroups",
    "FilterProfile",
    "Group",
    "LandlockConfig",
    "LandlockRuntime",
    "Launcher",
    "LauncherChoice",
    "Message",
    "PrivateFolders",
    "ProxySession",
    "Recorder",
    "Trial",
    "assemble",
    "close_ruleset",
    "descriptors",
    "distrust",
    "enter_group",
    "find_launcher",
    "inner_rules",
    "landlock",
    "landlock_abi",
    "limit_gaps",
    "limit_layers",
    "make_group",
    "open_ruleset",
    "process_start",
    "proxy_variables",
    "read_launcher_status",
    "recorder",
    "self_test",
    "serve_from_inside",
    "try_out",
]
