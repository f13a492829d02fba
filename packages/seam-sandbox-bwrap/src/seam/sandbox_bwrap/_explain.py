"""Why bwrap did not start the command: its own words, turned into a reason with a remedy."""

from __future__ import annotations

import re
from pathlib import Path

from seam.sandbox_def import Finding, Reason
from seam.sandbox_landlock import Trial, read_launcher_status

_WORDS: tuple[tuple[str, Reason], ...] = (
    (r"Unknown option", Reason.UNSUPPORTED_BINARY),
    (r"loopback|RTM_NEWADDR|netlink", Reason.NETWORK_SETUP),
    (r"max_\S*_namespaces|maximum number|namespace.*No space left", Reason.USER_NAMESPACES_EXHAUSTED),
    (r"mount proc|/proc", Reason.MASKED_PROC),
    (r"No space left", Reason.NO_SPACE),
    (r"uid map|No permissions to creat|[Nn]amespace failed|unshare", Reason.USER_NAMESPACES_OFF),
    (r"seccomp|prctl", Reason.NO_SECCOMP),
)


def explain(trial: Trial) -> Finding:
    """The reason for a start that did not happen. The text decides nothing but the words of the error."""
    failure = read_launcher_status(trial.status).failure
    said = trial.stderr.decode("utf-8", "replace").strip()[:300]
    if not said:
        lied = trial.exit_code == 0
        return Finding(reason=Reason.PROBE_LIED if lied else Reason.PROBE_FAILED, detail=failure)
    found = next((reason for words, reason in _WORDS if re.search(words, said)), Reason.PROBE_FAILED)
    return Finding(reason=_why_no_namespaces() if found is Reason.USER_NAMESPACES_OFF else found, detail=said)


def _why_no_namespaces() -> Reason:
    if _setting("kernel/apparmor_restrict_unprivileged_userns") == "1":
        return Reason.APPARMOR
    if "0" in (_setting("kernel/unprivileged_userns_clone"), _setting("user/max_user_namespaces")):
        return Reason.USER_NAMESPACES_OFF
    return Reason.OUTER_SECCOMP


def _setting(name: str) -> str:
    try:
        return Path("/proc/sys", name).read_text("ascii").strip()
    except OSError:
        return ""
