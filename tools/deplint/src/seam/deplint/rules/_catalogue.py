"""Every rule, in the order of the documentation."""

from __future__ import annotations

from seam.deplint.rules import (
    _cycles,
    _entry_points,
    _keys,
    _law,
    _namespace,
    _requirements,
    _sources,
    _totality,
    _versions,
)
from seam.deplint.rules._finding import Rule
from seam.deplint.settings import Severity

_ERROR, _WARNING, _ADVICE = Severity.ERROR, Severity.WARNING, Severity.ADVICE

RULES: tuple[Rule, ...] = (
    Rule(
        "law-requirement",
        "a distribution requires only what its role may require",
        _ERROR,
        _law.law_requirement,
    ),
    Rule("law-extra", "an extra requires only what the role may require", _ERROR, _law.law_extra),
    Rule("law-import", "a distribution imports only what its role may import", _ERROR, _law.law_import),
    Rule("law-string", "no string names a module that the role must not know", _ERROR, _law.law_string),
    Rule("law-transitive", "no lawful chain ends where the role must not be", _ERROR, _law.law_transitive),
    Rule("role-missing", "every distribution of the family has a role", _ERROR, _totality.role_missing),
    Rule("role-folded", "several roles in one distribution are explained", _ERROR, _totality.role_folded),
    Rule("role-name", "a distribution is named for the role it plays", _ERROR, _totality.role_name),
    Rule(
        "extends-idle",
        "`extends` names a required implementer of the same key",
        _ERROR,
        _totality.extends_idle,
    ),
    Rule(
        "requirement-undeclared", "what is imported is required", _ERROR, _requirements.requirement_undeclared
    ),
    Rule("requirement-unused", "what is required is imported", _ERROR, _requirements.requirement_unused),
    Rule("foreign-unused", "foreign requirements are imported", _WARNING, _requirements.foreign_unused),
    Rule(
        "requirement-unverified",
        "foreign requirements can be matched",
        _ADVICE,
        _requirements.requirement_unverified,
    ),
    Rule("requirement-missing", "what is required is installed", _ERROR, _requirements.requirement_missing),
    Rule(
        "import-unowned", "an import below the namespace has an owner", _ERROR, _requirements.import_unowned
    ),
    Rule(
        "import-unverifiable", "dynamic imports name a constant", _WARNING, _requirements.import_unverifiable
    ),
    Rule(
        "specifier-dishonest", "siblings are required in a true range", _ERROR, _versions.specifier_dishonest
    ),
    Rule("version-train", "one train, one version", _ERROR, _versions.version_train),
    Rule("entry-point-target", "entry points lead somewhere", _ERROR, _entry_points.entry_point_target),
    Rule(
        "entry-point-duplicate",
        "one name in one group, one owner",
        _ERROR,
        _entry_points.entry_point_duplicate,
    ),
    Rule(
        "entry-point-group", "groups of the family are known groups", _ERROR, _entry_points.entry_point_group
    ),
    Rule(
        "declaration-hidden",
        "wheels carry what `[tool.seam]` says",
        _WARNING,
        _entry_points.declaration_hidden,
    ),
    Rule("key-duplicate", "a key has one definition", _ERROR, _keys.key_duplicate),
    Rule("key-undefined", "an implementer requires the definition of its key", _ERROR, _keys.key_undefined),
    Rule("key-incomplete", "a key is implemented and used", _WARNING, _keys.key_incomplete, whole=True),
    Rule("split-premature", "a split has two of a kind", _ADVICE, _keys.split_premature, whole=True),
    Rule("namespace-init", "nobody ships `__init__.py` of the namespace", _ERROR, _namespace.namespace_init),
    Rule("namespace-foreign", "nobody else owns the namespace", _WARNING, _namespace.namespace_foreign),
    Rule("namespace-leaf", "a distribution keeps to its leaf", _ERROR, _namespace.namespace_leaf),
    Rule("module-overlap", "a module has one owner", _ERROR, _namespace.module_overlap),
    Rule("py-typed-missing", "packages ship `py.typed`", _ERROR, _namespace.py_typed_missing),
    Rule("cycle", "requirements have no cycle", _ERROR, _cycles.cycle),
    Rule("file-unreadable", "every file can be read and parsed", _ERROR, _sources.file_unreadable),
    Rule("manifest-broken", "every manifest can be read", _ERROR),
    Rule("metadata-broken", "installed metadata can be read and is there once", _ERROR),
    Rule("archive-broken", "archives can be read", _ERROR),
    Rule("archive-unsafe", "no path leaves the archive", _ERROR),
    Rule("record-mismatch", "RECORD lists every file with its digest", _ERROR),
    Rule("drift", "source, wheel and environment say the same", _ERROR),
    Rule("deployment-row", "every row of a deployment has one provider", _ERROR),
    Rule("deployment-broken", "deployment files can be read", _ERROR),
    Rule("metadata-dynamic", "what the law is about is stated, not computed", _WARNING),
    Rule("module-unowned", "every Python file belongs to a distribution", _ERROR),
    Rule(
        "rule-idle",
        "every pattern of the configuration matches something",
        _ERROR,
        _totality.rule_idle,
        whole=True,
    ),
    Rule("baseline-stale", "every entry of the baseline is still found", _ERROR),
    Rule("waiver-unused", "every waiver in a comment is still needed and has a reason", _ERROR),
    Rule("ignore-unused", "every ignore is still needed", _ERROR),
)

BY_ID = {rule.id: rule for rule in RULES}
