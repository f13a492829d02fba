"""Entry points of broken, stale, doubled and incompatible distributions; a row always names what is wrong with it."""

from __future__ import annotations

import importlib
import importlib.metadata
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from host_distributions import consumer, implementer, install, plugin_code

from seam.host._deployment import Location, Row
from seam.host._entry_points import parse_entry_points
from seam.host._inventory import Inventory, ProviderIncompatible, ProviderMissing, RowError
from seam.host._loading import ConfigRefused, PluginUnloadable, check_config, load
from seam.host._outcomes import RowProblem

SPOT = Location(file=Path("/deployments/seam.toml"), line=7)


def consume(use: str, **more: object) -> Row:
    return Row.model_validate(
        {"section": "consume", "table": f"consume.{use}", "name": use, "use": use, "where": SPOT, **more}
    )


def implement(key: str, use: str, **more: object) -> Row:
    return Row.model_validate(
        {"section": "implement", "table": f"implement.{key}", "name": key, "use": use, "where": SPOT, **more}
    )


def names(inventory: Inventory) -> list[str]:
    return [provider.entry.name for provider in inventory.providers("seam.consumer")]


def problem_of(error: RowError) -> RowProblem:
    assert error.problem.where == "/deployments/seam.toml:7"
    assert error.problem.row in str(error)
    return error.problem


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to install into, importable during the test; what is imported from it is forgotten."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    known = set(sys.modules)
    yield folder
    for name in set(sys.modules) - known:
        del sys.modules[name]
    importlib.invalidate_caches()


def read(*folders: Path) -> Inventory:
    return Inventory.read([str(folder) for folder in folders])


# what is wrong with metadata


def test_ep_001_a_plugin_that_needs_a_newer_kernel_is_named_before_its_code_is_imported(site: Path) -> None:
    install(site, "seam-kernel", "1.0")
    install(site, "plug", entry_points=consumer("plug", "ep001_boom:p"), requires=["seam-kernel>=99"])
    (site / "ep001_boom.py").write_text("raise AssertionError('imported')")
    with pytest.raises(ProviderIncompatible) as caught:
        read(site).resolve(consume("plug"))
    problem = problem_of(caught.value)
    assert "plug 1.0 cannot be used here: plug needs seam-kernel>=99, have 1.0" in problem.text
    assert problem.remedy == "pip install --upgrade plug"
    assert "ep001_boom" not in sys.modules


def test_ep_001_a_definition_of_another_major_version_is_named_through_what_requires_it(site: Path) -> None:
    install(site, "seam-kernel", "1.0")
    install(
        site, "acme-exec-def", "2.0", entry_points="[seam.definition]\nexec = x:X\n", requires=["seam-kernel"]
    )
    install(
        site,
        "acme-exec-local",
        entry_points=implementer("exec", "local", "x:p"),
        requires=["acme-exec-def>=1.3,<2", "left-pad>=4; extra == 'odd'"],
    )
    inventory = read(site)
    assert inventory.incompatible("acme_exec.local") == [
        "acme-exec-local needs acme-exec-def<2,>=1.3, have 2.0"
    ]
    with pytest.raises(ProviderIncompatible, match=r"acme-exec-def<2,>=1\.3, have 2\.0"):
        inventory.resolve(implement("exec", "local"))


def test_ep_001_a_missing_definition_is_named(site: Path) -> None:
    install(
        site, "plug", entry_points=consumer("plug", "x:p"), requires=["seam-exec-def>=0.1,<1", "requests"]
    )
    assert read(site).incompatible("plug") == ["plug needs seam-exec-def<1,>=0.1, which is not installed"]


def test_ep_001_a_requirement_below_is_found_too(site: Path) -> None:
    install(site, "seam-kernel", "1.0")
    install(site, "seam-exec-def", "1.0", requires=["seam-kernel>=2"])
    install(site, "plug", entry_points=consumer("plug", "x:p"), requires=["seam-exec-def"])
    assert read(site).incompatible("plug") == ["seam-exec-def needs seam-kernel>=2, have 1.0"]


def test_ep_002_an_editable_install_beside_its_source_counts_once(site: Path, tmp_path: Path) -> None:
    source = tmp_path / "src"
    egg = source / "my_plug.egg-info"
    egg.mkdir(parents=True)
    (egg / "PKG-INFO").write_text("Metadata-Version: 2.1\nName: my-plug\nVersion: 1.0\n")
    (egg / "entry_points.txt").write_text(consumer("plug", "x:p"))
    install(site, "My.Plug", entry_points=consumer("plug", "x:p"))
    inventory = read(source, site)
    assert names(inventory) == ["plug"]
    assert inventory.resolve(consume("plug")).distribution == "my-plug"
    assert inventory.problems == ()


def test_ep_004_a_shadowed_version_offers_nothing(site: Path, tmp_path: Path) -> None:
    newer = tmp_path / "new"
    install(newer, "plug", "2.0", entry_points=consumer("x", "pkg.new:f"))
    install(site, "plug", "1.0", entry_points="[seam.consumer]\nx = pkg.old:f\ny = pkg.gone:g\n")
    inventory = read(newer, site)
    assert names(inventory) == ["x"]
    assert inventory.resolve(consume("x")).entry.module == "pkg.new"


def test_ep_004_a_newer_version_without_entry_points_shadows_as_well(site: Path, tmp_path: Path) -> None:
    newer = tmp_path / "new"
    install(newer, "plug", "2.0")
    install(site, "plug", "1.0", entry_points=consumer("y", "pkg.gone:g"))
    assert names(read(newer, site)) == []


@pytest.mark.parametrize("left_over", ["plug-1.0.0.dist-info", "plug-1.0.2.dist-info"])
def test_ep_005_an_empty_left_over_folder_is_reported_and_shadows_nothing(site: Path, left_over: str) -> None:
    install(site, "plug", "1.0.1", entry_points=consumer("plug", "x:p"))
    (site / left_over).mkdir()
    inventory = read(site)
    assert inventory.resolve(consume("plug")).version == "1.0.1"
    (problem,) = inventory.problems
    assert problem.path == str(site / left_over)
    assert "left over" in problem.text


def test_ep_005_a_left_over_earlier_on_the_path_shadows_nothing(site: Path, tmp_path: Path) -> None:
    (tmp_path / "user" / "plug-2.0.dist-info").mkdir(parents=True)
    install(site, "plug", "1.0.1", entry_points=consumer("plug", "x:p"))
    assert names(read(tmp_path / "user", site)) == ["plug"]


def test_ep_005_metadata_without_a_name_is_reported(site: Path) -> None:
    info = install(site, "plug", entry_points=consumer("plug", "x:p"))
    (info / "METADATA").write_text("Metadata-Version: 2.1\nSummary: who am I\n")
    inventory = read(site)
    assert inventory.distributions == ()
    (problem,) = inventory.problems
    assert problem.path == str(info)
    assert "no name" in problem.text


def test_two_versions_in_one_folder_are_reported_and_the_newer_counts(site: Path) -> None:
    install(site, "plug", "1.9", entry_points=consumer("old", "x:p"))
    install(site, "plug", "1.10", entry_points=consumer("new", "x:p"))
    inventory = read(site)
    assert names(inventory) == ["new"]
    (problem,) = inventory.problems
    assert "plug-1.9.dist-info, plug-1.10.dist-info" in problem.text


def test_ep_016_one_broken_distribution_costs_itself_only(site: Path) -> None:
    install(site, "good", entry_points=consumer("good", "good:p"))
    bad_line = install(
        site,
        "bad-line",
        entry_points="[seam.consumer]\nbad line without equals\nx = w:f\nspaced = a:b [extra]\nodd = not a ref!\n",
    )
    no_metadata = install(site, "no-metadata", entry_points=consumer("y", "w:f"))
    (no_metadata / "METADATA").unlink()
    latin = install(site, "latin")
    (latin / "entry_points.txt").write_bytes("[seam.consumer]\nlatin = café:p\n".encode("latin-1"))
    inventory = read(site)
    assert names(inventory) == ["good", "spaced", "x"]
    told = {
        problem.path: [p.text for p in inventory.problems if p.path == problem.path]
        for problem in inventory.problems
    }
    assert set(told) == {str(bad_line), str(no_metadata), str(latin)}
    assert "line 2" in told[str(bad_line)][0]
    assert "'odd'" in told[str(bad_line)][1]
    assert "not UTF-8" in told[str(latin)][0]


def test_ep_012_a_look_that_failed_is_made_again(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(site, "plug", entry_points=consumer("plug", "x:p"))
    real = importlib.metadata.distributions
    calls: list[int] = []

    def once(*, path: list[str]) -> Iterable[importlib.metadata.Distribution]:
        calls.append(1)
        if len(calls) == 1:
            raise OSError("stale handle")
        return real(path=path)

    monkeypatch.setattr(importlib.metadata, "distributions", once)
    first = read(site)
    assert first.distributions == ()
    assert "stale handle" in first.problems[0].text
    assert names(read(site)) == ["plug"]


def test_a_distribution_that_is_installed_later_is_found_by_the_next_look(site: Path) -> None:
    assert names(read(site)) == []
    install(site, "plug", entry_points=consumer("plug", "x:p"))
    assert names(read(site)) == ["plug"]


def test_entry_points_are_read_line_by_line() -> None:
    found, problems = parse_entry_points(
        "a = b:c\n\n[g]\n# x\n; y\none = m.n:o.p [e]\none = other:x\ntwo=m\n = m:n\nthree =\n"
    )
    assert [(entry.name, str(entry)) for entry in found] == [("one", "m.n:o.p"), ("two", "m")]
    assert [problem.split(" is ")[0].split(" does ")[0] for problem in problems] == [
        "line 1",
        "line 9",
        "line 10",
    ]


# resolving rows


def test_a_row_without_a_provider_names_the_pip_line_where_it_gives_a_distribution(site: Path) -> None:
    with pytest.raises(ProviderMissing) as caught:
        read(site).resolve(implement("exec", "sandbox", distribution="seam-exec-sandbox"))
    problem = problem_of(caught.value)
    assert (problem.kind, problem.key, problem.plugin) == ("missing", "exec", "sandbox")
    assert problem.remedy == "pip install seam-exec-sandbox"
    assert "implementer 'sandbox' of 'exec'" in problem.text


def test_a_distribution_name_is_never_guessed(site: Path) -> None:
    install(site, "seam-exec-local", entry_points=implementer("exec", "local", "x:p"))
    with pytest.raises(ProviderMissing) as caught:
        read(site).resolve(implement("exec", "locl"))
    problem = problem_of(caught.value)
    assert "pip install" not in problem.remedy
    assert "did you mean 'local'?" in problem.remedy
    assert "local (seam-exec-local 1.0)" in problem.remedy


def test_an_unknown_key_is_named_with_the_key_that_was_meant(site: Path) -> None:
    install(site, "d", entry_points="[seam.definition]\nsubprocess = x:X\n")
    with pytest.raises(ProviderMissing) as caught:
        read(site).resolve(implement("subproces", "local"))
    assert "did you mean 'subprocess'?" in problem_of(caught.value).remedy


def test_a_distribution_that_does_not_provide_the_row_is_named_with_its_version(site: Path) -> None:
    install(site, "plug", "3.1", entry_points=implementer("exec", "local", "x:p"))
    with pytest.raises(ProviderMissing) as caught:
        read(site).resolve(implement("exec", "sandbox", distribution="plug"))
    assert "plug 3.1 does not provide the implementer 'sandbox'" in problem_of(caught.value).text


def test_two_providers_of_one_mechanism_need_a_choice(site: Path) -> None:
    for name in ("one", "two"):
        install(site, name, entry_points=implementer("exec", "sandbox", f"{name}:p"))
    inventory = read(site)
    with pytest.raises(ProviderMissing) as caught:
        inventory.resolve(implement("exec", "sandbox"))
    problem = problem_of(caught.value)
    assert "provided by one 1.0 and two 1.0" in problem.text
    assert problem.remedy == 'choose in [implement.exec]: distribution = "one" or distribution = "two"'
    assert inventory.resolve(implement("exec", "sandbox", distribution="Two")).entry.module == "two"


# loading


def test_a_plugin_is_loaded(site: Path) -> None:
    install(
        site,
        "plug",
        entry_points=consumer("plug", "host_loaded:good"),
        modules={"host_loaded.py": plugin_code()},
    )
    row = consume("plug")
    assert load(row, read(site).resolve(row)).name == "good"


@pytest.mark.parametrize("case", ["ke_001", "ep_006"])
def test_ke_001_ep_006_missing_files_are_named_with_plugin_distribution_and_cause(
    site: Path, case: str
) -> None:
    install(site, "bad", "0.3", entry_points=consumer("bad", f"missing_{case}.mod:plugin"))
    install(
        site,
        "fine",
        entry_points=consumer("fine", f"fine_{case}:good"),
        modules={f"fine_{case}.py": plugin_code()},
    )
    inventory, row = read(site), consume("bad")
    with pytest.raises(PluginUnloadable) as caught:
        load(row, inventory.resolve(row))
    problem = problem_of(caught.value)
    assert f"missing_{case}.mod:plugin of bad 0.3 could not be imported: ModuleNotFoundError" in problem.text
    assert "files are gone" in problem.remedy
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)
    assert load(consume("fine"), inventory.resolve(consume("fine"))).name == "good"


def test_ke_001_a_missing_module_below_is_named(site: Path) -> None:
    install(
        site,
        "bad",
        entry_points=consumer("bad", "ke001_top:p"),
        modules={"ke001_top.py": "\nimport compiled_gone\n"},
    )
    row = consume("bad")
    with pytest.raises(PluginUnloadable) as caught:
        load(row, read(site).resolve(row))
    problem = problem_of(caught.value)
    assert f"({site / 'ke001_top.py'}:2)" in problem.text
    assert (
        problem.remedy
        == "it needs the module 'compiled_gone', which is not there: pip install --force-reinstall bad"
    )


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import sys; sys.exit()", "SystemExit"),
        ("class Odd(BaseException): ...\nraise Odd('odd')", "Odd: odd"),
        ("raise GeneratorExit", "GeneratorExit"),
        ("def broken(:", "SyntaxError"),
        ("x = 1", "AttributeError"),
    ],
)
def test_ep_008_whatever_a_plugin_raises_while_imported_is_about_its_row(
    site: Path, code: str, told: str
) -> None:
    module = f"ep008_{abs(hash(code))}"
    install(site, "bad", entry_points=consumer("bad", f"{module}:p"), modules={f"{module}.py": code})
    row = consume("bad")
    with pytest.raises(PluginUnloadable) as caught:
        load(row, read(site).resolve(row))
    assert told in problem_of(caught.value).text


def test_ep_008_ctrl_c_while_a_plugin_is_imported_is_the_persons(site: Path) -> None:
    install(
        site,
        "bad",
        entry_points=consumer("bad", "ep008_c:p"),
        modules={"ep008_c.py": "raise KeyboardInterrupt"},
    )
    row = consume("bad")
    with pytest.raises(KeyboardInterrupt):
        load(row, read(site).resolve(row))


def test_what_is_not_a_plugin_is_named(site: Path) -> None:
    install(
        site, "bad", entry_points=consumer("bad", "not_plugin:p"), modules={"not_plugin.py": "def p(): ..."}
    )
    row = consume("bad")
    with pytest.raises(PluginUnloadable, match=r"not_plugin:p of bad 1\.0 is a function, not a plugin"):
        load(row, read(site).resolve(row))


def test_an_implementer_that_does_not_provide_its_key_is_named(site: Path) -> None:
    install(
        site,
        "bad",
        entry_points=implementer("exec", "x", "no_key:good"),
        modules={"no_key.py": plugin_code()},
    )
    row = implement("exec", "x")
    with pytest.raises(PluginUnloadable, match="implements 'exec', but the plugin provides nothing"):
        load(row, read(site).resolve(row))


# configuration

CONFIGURED = """
from pydantic import BaseModel, ConfigDict
from seam.kernel import Seconds, plugin

class Network(BaseModel):
    model_config = ConfigDict(extra="forbid")
    mode: str = "none"

class Config(BaseModel):
    model_config = ConfigDict(extra="forbid")
    timeout: Seconds = 1.0
    network: Network = Network()

@plugin(config=Config)
async def configured(ctx, config):
    yield
"""


def test_a_row_word_or_option_that_is_misspelt_is_named_with_its_own_line(site: Path) -> None:
    install(
        site,
        "plug",
        entry_points=consumer("plug", "with_config:configured"),
        modules={"with_config.py": CONFIGURED},
    )
    base = Path("/deployments/base.toml")
    row = consume(
        "plug",
        config={"timeot": "2m", "optionl": True, "timeout": "soon", "network": {"mode": 3}},
        places={
            "timeot": Location(file=base, line=4, path="consume.plug.timeot"),
            "network.mode": Location(file=base, line=9, path="consume.plug.network.mode"),
        },
    )
    plugin = load(row, read(site).resolve(row))
    with pytest.raises(ConfigRefused) as caught:
        check_config(row, plugin, row.config)
    told = {problem.row: (problem.where, problem.text, problem.remedy) for problem in caught.value.problems}
    assert told["consume.plug.timeot"] == (
        f"{base}:4",
        "there is no option 'timeot'",
        "did you mean 'timeout'?",
    )
    assert told["consume.plug.optionl"][2] == "did you mean 'optional'?"
    assert told["consume.plug.network.mode"][0] == f"{base}:9"
    assert "'soon' is not a duration" in told["consume.plug.timeout"][1]
