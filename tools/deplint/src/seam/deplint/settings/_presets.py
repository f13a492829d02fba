"""Ready-made layouts. A configuration starts from one and changes what differs."""

from __future__ import annotations

from seam.deplint.settings._model import Role, Settings, Severity

SEAM = Settings(
    preset="seam",
    family=("seam-*",),
    namespaces=("seam",),
    group_prefix="seam.",
    leaf=True,
    specifiers="compatible",
    trains=(("seam-*",),),
    roles=(
        Role("kernel", names=("seam-kernel",), color="#5b6770"),
        Role(
            "definition",
            groups=("seam.definition",),
            key_from="name",
            may_require=("kernel", "definition"),
            face=True,
            owns_key=True,
            suffixes=("-def",),
            color="#2f6db5",
        ),
        Role(
            "implementer",
            groups=("seam.implementer.*",),
            key_from="group",
            may_require=("kernel", "definition"),
            may_extend=("implementer",),
            color="#2e8b57",
        ),
        Role(
            "consumer",
            groups=("seam.consumer",),
            may_require=("kernel", "definition"),
            suffixes=("-tool",),
            color="#c77c11",
        ),
        Role("assembly", names=("seam-host",), may_require=("kernel", "definition"), color="#8a4f9e"),
    ),
)

OPENTELEMETRY = Settings(
    preset="opentelemetry",
    family=("opentelemetry-*",),
    namespaces=(
        "opentelemetry",
        "opentelemetry.exporter",
        "opentelemetry.exporter.otlp",
        "opentelemetry.exporter.otlp.proto",
        "opentelemetry.instrumentation",
        "opentelemetry.propagators",
        "opentelemetry.resource",
        "opentelemetry.resource.detector",
        "opentelemetry.sdk.extension",
        "opentelemetry.util",
    ),
    present_extras=("instruments",),
    severity={"py-typed-missing": Severity.ADVICE},
    roles=(
        Role("api", names=("opentelemetry-api",), color="#5b6770"),
        Role(
            "convention",
            names=(
                "opentelemetry-semantic-conventions",
                "opentelemetry-semantic-conventions-*",
                "opentelemetry-proto",
            ),
            may_require=("api",),
            color="#2f6db5",
        ),
        Role(
            "sdk",
            names=("opentelemetry-sdk", "opentelemetry-test-utils", "opentelemetry-sdk-extension-*"),
            may_require=("api", "convention", "sdk"),
            color="#8a4f9e",
        ),
        Role(
            "exporter",
            names=("opentelemetry-exporter-*",),
            may_require=("api", "convention", "sdk", "exporter"),
            color="#c77c11",
        ),
        Role("propagator", names=("opentelemetry-propagator-*",), may_require=("api",), color="#b5562f"),
        Role(
            "detector",
            names=("opentelemetry-resource-detector-*", "opentelemetry-resourcedetector-*"),
            may_require=("api", "convention", "sdk"),
            color="#7a6a2f",
        ),
        Role(
            "instrumentation",
            names=(
                "opentelemetry-instrumentation",
                "opentelemetry-instrumentation-*",
                "opentelemetry-util-*",
            ),
            may_require=("api", "convention", "instrumentation", "propagator"),
            color="#2e8b57",
        ),
        Role("distribution", names=("opentelemetry-distro",), may_require=("*",), color="#777777"),
    ),
)

PRESETS = {"seam": SEAM, "opentelemetry": OPENTELEMETRY}
