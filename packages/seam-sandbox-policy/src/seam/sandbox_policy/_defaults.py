"""The lists that hold without anybody asking, each entry with its reason."""

from __future__ import annotations

from types import MappingProxyType

_SSH = "private keys, and configuration that names them"
_CLOUD = "credentials of a cloud account"
_TOKENS = "access tokens"
_BROWSER = "sessions and passwords of a browser"
_ACCOUNTS = "password hashes of this machine"
_SHARED = "shared by all programs of this machine; their sockets and files live here, TMPDIR is private"

HIDDEN: MappingProxyType[str, str] = MappingProxyType(
    {
        "~/.ssh": _SSH,
        "~/.gnupg": "private keys",
        "~/.password-store": "passwords",
        "~/.local/share/keyrings": "passwords",
        "~/.aws": _CLOUD,
        "~/.azure": _CLOUD,
        "~/.config/gcloud": _CLOUD,
        "~/.oci": _CLOUD,
        "~/.kube": "credentials of clusters",
        "~/.docker": "credentials of container registries",
        "~/.config/gh": _TOKENS,
        "~/.config/hub": _TOKENS,
        "~/.config/git/credentials": _TOKENS,
        "~/.git-credentials": _TOKENS,
        "~/.netrc": _TOKENS,
        "~/.pypirc": _TOKENS,
        "~/.npmrc": _TOKENS,
        "~/.yarnrc.yml": _TOKENS,
        "~/.cargo/credentials.toml": _TOKENS,
        "~/.gem/credentials": _TOKENS,
        "~/.terraform.d/credentials.tfrc.json": _TOKENS,
        "~/.vault-token": _TOKENS,
        "~/.pgpass": "passwords of databases",
        "~/.my.cnf": "passwords of databases",
        "~/.mozilla": _BROWSER,
        "~/.config/google-chrome": _BROWSER,
        "~/.config/chromium": _BROWSER,
        "~/.config/BraveSoftware": _BROWSER,
        "~/.bash_history": "command lines, which hold secrets by accident",
        "~/.zsh_history": "command lines, which hold secrets by accident",
        "/etc/shadow": _ACCOUNTS,
        "/etc/shadow-": _ACCOUNTS,
        "/etc/gshadow": _ACCOUNTS,
        "/etc/gshadow-": _ACCOUNTS,
        "/etc/sudoers": "who may become whom",
        "/etc/ssl/private": "private keys of this machine",
        "/etc/ssh/ssh_host_rsa_key": "private key of this machine",
        "/etc/ssh/ssh_host_ecdsa_key": "private key of this machine",
        "/etc/ssh/ssh_host_ed25519_key": "private key of this machine",
        "/run": "sockets of services, and secrets that a container's orchestrator mounts",
        "/tmp": _SHARED,
        "/var/tmp": _SHARED,
        "/dev/shm": "shared memory of other programs",
    }
)
"""Always hidden: the credential stores of the user and of the machine, and what programs share."""

READABLE: MappingProxyType[str, str] = MappingProxyType(
    {"/run/systemd/resolve": "how names are resolved here"},
)
"""Opened again below a hidden path."""

_GIT = "git runs the programs that it finds here"
_AGENT = "an agent or editor runs what it finds here"

PROTECTED_IN_ROOT: MappingProxyType[str, str] = MappingProxyType(
    {
        ".git/hooks": _GIT,
        ".git/config": _GIT,
        ".git/config.worktree": _GIT,
        ".envrc": "direnv runs it",
        ".mcp.json": _AGENT,
        ".claude": _AGENT,
        ".cursor": _AGENT,
        ".vscode": _AGENT,
        ".idea": _AGENT,
    }
)
"""Protected in every writable root, whether it exists or not."""

PROTECTED_IN_HOME: MappingProxyType[str, str] = MappingProxyType(
    {"~/.cache/seam": "what sandboxes found out about this machine is believed"}
    | dict.fromkeys(
        (
            "~/.bashrc",
            "~/.bash_profile",
            "~/.bash_login",
            "~/.profile",
            "~/.zshrc",
            "~/.zshenv",
            "~/.zprofile",
            "~/.zlogin",
            "~/.config/fish",
            "~/.config/autostart",
            "~/.config/systemd",
            "~/.config/git/config",
            "~/.gitconfig",
            "~/.local/bin",
            "~/bin",
        ),
        "a shell, session or git runs what it finds here",
    )
)
"""Protected where a writable root contains the home folder."""

REFUSED_ROOTS: MappingProxyType[str, str] = MappingProxyType(
    {
        "/": "it is the whole machine; use full-access if that is meant",
        "/tmp": "programs of this machine share it; use a folder below it",
        "/var/tmp": "programs of this machine share it; use a folder below it",
        "/run": "sockets of services live there",
        "/proc": "it is the kernel's",
        "/sys": "it is the kernel's",
        "/dev": "it holds devices",
        "/dev/shm": "programs of this machine share it",
        "/etc": "programs of this machine are configured there",
        "/usr": "the programs of this machine live there",
        "/var": "programs of this machine keep their state there; use a folder below it",
        "/home": "it is everybody's; use a folder below it",
    }
)
"""Folders that can never be a writable root, with the reason."""
