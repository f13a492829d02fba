"""A call from inside a sandbox: never wider than the sandbox it comes from."""

from __future__ import annotations

from seam.sandbox_def import AllowedHost, PathRule, Policy, narrower, narrower_network


def narrowed(policy: Policy, parent: Policy) -> Policy:
    """The part of `policy` that `parent` permits as well."""
    if not parent.confines:
        return policy
    mode = narrower(policy.mode, parent.mode)
    network = narrower_network(policy.network, parent.network)
    base = policy if policy.confines else parent
    return base.model_copy(
        update={
            "mode": mode,
            "network": network,
            "allowed_hosts": _hosts(policy, parent) if network == "allow-list" else (),
            "writable": _writable(base, parent) if mode == "workspace-write" else (),
            "readable": tuple(rule for rule in base.readable if parent.access_of(rule.path) != "none"),
            "protected": _union(base.protected, parent.protected),
            "hidden": _union(base.hidden, parent.hidden),
            "limits": policy.limits.narrowed(parent.limits),
            "partial": policy.partial and parent.partial,
            "forbidden_gaps": tuple(dict.fromkeys(policy.forbidden_gaps + parent.forbidden_gaps)),
            "widened": policy.widened,
            "decided_by": policy.decided_by,
        }
    )


def _writable(policy: Policy, parent: Policy) -> tuple[PathRule, ...]:
    own = tuple(rule for rule in policy.writable if parent.access_of(rule.path) == "write")
    below = tuple(rule for rule in parent.writable if policy.access_of(rule.path) == "write")
    return _union(own, below)


def _hosts(policy: Policy, parent: Policy) -> tuple[AllowedHost, ...]:
    if policy.network == "full":
        return parent.allowed_hosts
    if parent.network == "full":
        return policy.allowed_hosts
    return tuple(host for host in policy.allowed_hosts if host in parent.allowed_hosts)


def _union(first: tuple[PathRule, ...], second: tuple[PathRule, ...]) -> tuple[PathRule, ...]:
    return tuple({rule.path: rule for rule in (*second, *first)}.values())
