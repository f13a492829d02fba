"""Every rule, in the order of the documentation."""

from __future__ import annotations

from seam.deplint.rules import _law, _requirements, _sources, _totality
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
    Rule(
        "requirement-unverified",
        "foreign requirements can be matched",
        _ADVICE,
        _requirements.requirement_unverified,
    ),
    Rule(
        "import-unowned", "an import below the namespace has an owner", _ERROR, _requirements.import_unowned
    ),
    Rule(
        "import-unverifiable", "dynamic imports name a constant", _WARNING, _requirements.import_unverifiable
    ),
    Rule("file-unreadable", "every file can be read and parsed", _ERROR, _sources.file_unreadable),
    Rule("manifest-broken", "every manifest can be read", _ERROR),
    Rule("metadata-dynamic", "what the law is about is stated, not computed", _WARNING),
    Rule("module-unowned", "every Python file belongs to a distribution", _ERROR),
    Rule("rule-idle", "every pattern of the configuration matches something", _ERROR),
    Rule("ignore-unused", "every ignore is still needed", _ERROR),
)

BY_ID = {rule.id: rule for rule in RULES}
