"""A large real family of namespace distributions, as sdists of one release; and the layout's preset on a small one."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from seam.deplint.testing import House, Member

Run = Callable[..., tuple[int, str, str]]
CORPUS = Path(__file__).parent / "opentelemetry-corpus.txt"

UNDECLARED = {
    # Each was read in the sdist. dependencies = ["opentelemetry-proto == 1.29.0"], and every encoder imports the SDK's types.
    ("opentelemetry-exporter-otlp-proto-common", "opentelemetry-sdk"),
    ("opentelemetry-exporter-otlp-proto-common", "opentelemetry-api"),
    # semconv.trace.MessagingOperationValues at module level; the manifest has instrumentation, api, wrapt.
    ("opentelemetry-instrumentation-aio-pika", "opentelemetry-semantic-conventions"),
    ("opentelemetry-instrumentation-confluent-kafka", "opentelemetry-semantic-conventions"),
    ("opentelemetry-instrumentation-pika", "opentelemetry-semantic-conventions"),
    # trace, context and metrics of the API at module level; it arrives through opentelemetry-instrumentation only.
    ("opentelemetry-instrumentation-aws-lambda", "opentelemetry-api"),
    # BaseInstrumentor at module level; the manifest has api, semconv, wrapt.
    ("opentelemetry-instrumentation-click", "opentelemetry-instrumentation"),
    # The manifest has no dependencies at all; httplib.py imports context, BaseInstrumentor, and __init__.py SpanAttributes.
    ("opentelemetry-util-http", "opentelemetry-semantic-conventions"),
    ("opentelemetry-util-http", "opentelemetry-api"),
    ("opentelemetry-util-http", "opentelemetry-instrumentation"),
}
"""Undeclared sibling imports of release 1.29.0 / 0.50b0, reviewed by hand: all ten are true."""

UNUSED = {
    # Meta distributions: they require the HTTP variants and register only the gRPC or protobuf one.
    ("opentelemetry-exporter-otlp", "opentelemetry-exporter-otlp-proto-http"),
    ("opentelemetry-exporter-zipkin", "opentelemetry-exporter-zipkin-json"),
    # Everything of the API that they use comes through opentelemetry.instrumentation.dbapi.
    *(
        (f"opentelemetry-instrumentation-{name}", "opentelemetry-api")
        for name in ("mysql", "mysqlclient", "psycopg", "psycopg2", "pymysql")
    ),
    ("opentelemetry-instrumentation-asyncio", "opentelemetry-semantic-conventions"),
}
"""Sibling requirements without an import; reviewed by hand as well."""


@pytest.fixture
def corpus(request: pytest.FixtureRequest) -> Path:
    """The sdists, downloaded once into pytest's cache by pip; their builds run in pip's hands, never in the linter's."""
    assert request.config.cache is not None
    folder = Path(request.config.cache.mkdir("seam-deplint-opentelemetry"))
    wanted = len(CORPUS.read_text("utf-8").split())
    sdists = folder / "sdists"
    if len(list(sdists.glob("*.tar.gz"))) != wanted:
        python = folder / "pip/bin/python"
        subprocess.run([sys.executable, "-m", "venv", folder / "pip"], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "hatchling"], check=True)
        flags = ["--no-deps", "--no-binary", ":all:", "--no-build-isolation"]
        subprocess.run(
            [python, "-m", "pip", "download", "-q", *flags, "-d", sdists, "-r", CORPUS], check=True
        )
    (folder / "seam-deplint.toml").write_text('preset = "opentelemetry"\n', "utf-8")
    return folder


@pytest.mark.full
@pytest.mark.timeout(900)
def test_the_opentelemetry_family_keeps_its_layers_and_hides_ten_imports(corpus: Path, run: Run) -> None:
    _, out, _ = run(
        "check", "--config", corpus / "seam-deplint.toml", "--format", "json", "--no-cache", corpus / "sdists"
    )
    report = json.loads(out)
    findings = cast("list[dict[str, object]]", report["findings"])

    def edges(rule: str) -> set[tuple[str, ...]]:
        return {
            tuple(cast("list[str]", item["edge"]))
            for item in findings
            if item["rule"] == rule and item["edge"]
        }

    assert report["distributions"] == 68
    assert [
        item for item in findings if str(item["rule"]).startswith("law-")
    ] == []  # no instrumentation has an SDK requirement
    assert {
        edge for edge in edges("requirement-undeclared") if edge[1].startswith("opentelemetry-")
    } == UNDECLARED
    assert edges("requirement-unused") == UNUSED
    assert {item["rule"] for item in findings if item["severity"] == "error"} == {
        "requirement-undeclared",
        "requirement-unused",
    }


def family(root: Path) -> House:
    """An API, an SDK and an instrumentation of the layout."""
    house = House(root, settings='[tool.seam-deplint]\npreset = "opentelemetry"\nmembers = ["packages/*"]\n')
    api = house.add(Member("opentelemetry-api", packed="src/opentelemetry", version="1.29.0"))
    api.files = {"opentelemetry/trace/__init__.py": "", "opentelemetry/py.typed": ""}
    sdk = house.add(
        Member(
            "opentelemetry-sdk", ["opentelemetry-api==1.29.0"], packed="src/opentelemetry", version="1.29.0"
        )
    )
    sdk.files = {"opentelemetry/sdk/trace/__init__.py": "import opentelemetry.trace\n"}
    name = "opentelemetry-instrumentation-flask"
    extras = {"instruments": ["flask >= 1.0"]}
    flask = house.add(
        Member(name, ["opentelemetry-api ~= 1.12"], extras, packed="src/opentelemetry", version="0.50b0")
    )
    flask.files = {
        "opentelemetry/instrumentation/flask/__init__.py": "import flask\nfrom opentelemetry import trace\n"
    }
    return house


def test_the_preset_lets_the_layout_pass(tmp_path: Path, run: Run) -> None:
    code, out, _ = run("check", family(tmp_path).write())
    assert code == 0, out


@pytest.mark.parametrize(
    ("source", "requirement", "rule"),
    [
        ("from opentelemetry.sdk.trace import x\n", "", "law-import"),
        ("", "opentelemetry-sdk == 1.29.0", "law-requirement"),
        ("", "opentelemetry-api ~= 1.30", "specifier-dishonest"),
    ],
)
def test_the_preset_finds_an_instrumentation_on_the_sdk(
    tmp_path: Path, run: Run, source: str, requirement: str, rule: str
) -> None:
    house = family(tmp_path)
    flask = house["opentelemetry-instrumentation-flask"]
    flask.files["opentelemetry/instrumentation/flask/__init__.py"] += source
    flask.dependencies = (
        [requirement]
        if "api" in requirement
        else [*flask.dependencies, *([requirement] if requirement else [])]
    )
    code, out, _ = run("check", house.write())
    assert code == 1
    assert "findings: 1 error, " in out
    assert f"error {rule}" in out
