"""The graph: what is in it, how it is laid out, and that its page stands alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from host_distributions import consumer, install
from host_fixtures_cli import COMPLETE, install_broken, install_runtime, seam, site_packages
from hypothesis import given
from hypothesis import strategies as st

from seam.host._graph import Edge, Graph, Node, installed_graph
from seam.host._graph_page import graph_page
from seam.host._inventory import Inventory
from seam.host._layout import HEIGHT, WIDTH, lay_out
from seam.host._mermaid import mermaid
from seam.host.cli._exits import Exit


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where distributions are found; the working directory is the folder above."""
    monkeypatch.chdir(tmp_path)
    with site_packages(tmp_path / "site-packages", monkeypatch) as folder:
        yield folder


def edges(graph: Graph) -> set[tuple[str, str, str]]:
    names = {node.id: node.label for node in graph.nodes}
    return {(names[edge.start], edge.kind, names[edge.end]) for edge in graph.edges}


def test_arrows_run_in_the_direction_of_a_call(site: Path) -> None:
    install_runtime(site)
    graph = installed_graph(Inventory.read())
    assert {
        ("shell-tool", "requires", "exec"),
        ("shell-tool", "uses", "permissions"),
        ("exec", "provided by", "fake"),
        ("tools", "provided by", "fake"),
    } <= edges(graph)
    states = {node.label: node.state for node in graph.nodes if node.kind == "key"}
    assert states["permissions"] == "absent", "optional for who uses it, so nothing is missing"


def test_what_is_missing_is_in_the_picture_and_in_words(site: Path) -> None:
    install_runtime(site, shell=False)
    install_broken(site)
    graph = installed_graph(Inventory.read())
    by_label = {node.label: node for node in graph.nodes}
    assert by_label["exec"].state == "missing"
    assert by_label["bad"].state == "failed"
    assert any("half installed" in problem.text for problem in graph.missing)


def test_what_is_used_from_code_only_is_not_broken(site: Path) -> None:
    install(
        site,
        "adapter",
        entry_points=consumer("adapter", "host_graph_adapter:Adapter"),
        modules={"host_graph_adapter.py": "class Adapter: ..."},
    )
    graph = installed_graph(Inventory.read())
    assert [(node.label, node.state) for node in graph.nodes if node.kind == "consumer"] == [
        ("adapter", "ready")
    ]
    assert graph.missing == ()


def test_the_command_writes_each_format_by_the_name_of_the_file(site: Path) -> None:
    install_runtime(site)
    Path("seam.toml").write_text(COMPLETE)
    assert seam("graph").stdout.startswith("flowchart LR\n")
    for name, start in (("g.html", "<!doctype html>"), ("g.json", "{"), ("g.mmd", "flowchart")):
        assert seam("graph", "-o", name).exit_code == Exit.DONE
        assert Path(name).read_text().startswith(start)
    Path("seam.toml").write_text(COMPLETE.replace('[implement.exec]\nuse = "fake"\n', ""))
    incomplete = seam("graph")
    assert incomplete.exit_code == Exit.INCOMPLETE
    assert "needs 'exec'" in incomplete.stderr


NASTY = Node(id="row:0", kind="consumer", label='a"]; <script>alert(1)</script> #x', detail='"&<b>')


def test_labels_cannot_break_out_of_the_page_or_the_diagram() -> None:
    graph = Graph(title="<img src=x>", nodes=(NASTY,), edges=())
    page = graph_page(graph)
    assert "<script" not in page
    assert "<img" not in page
    lines = mermaid(graph).splitlines()
    assert re.fullmatch(r'    n0\["[^"\]<;]*(?:#\d+;[^"\]<;]*|<br/>)*"\]', lines[1])


def test_the_page_asks_for_nothing_from_elsewhere(site: Path) -> None:
    install_runtime(site)
    page = graph_page(installed_graph(Inventory.read())).replace('xmlns="http://www.w3.org/2000/svg"', "")
    assert not re.search(r"https?://|<script|<link|@import|url\((?!#)", page)


names = st.integers(0, 11).map(str)


@given(st.lists(st.tuples(names, names), max_size=40))
def test_boxes_never_overlap_and_arrows_end_at_them_whatever_the_graph(pairs: list[tuple[str, str]]) -> None:
    nodes = [
        Node(id=str(number), kind=("consumer", "key", "implementer")[number % 3], label=str(number))
        for number in range(12)
    ]
    arrows = [Edge(start=a, end=b, kind="requires") for a, b in sorted(set(pairs)) if a != b]
    layout = lay_out(Graph(title="", nodes=tuple(nodes), edges=tuple(arrows)))
    for (x0, y0), (x1, y1) in combinations(layout.boxes.values(), 2):
        assert abs(x0 - x1) >= WIDTH or abs(y0 - y1) >= HEIGHT
    assert list(layout.arrows) == arrows
    for edge, points in layout.arrows.items():
        for name, (x, y) in ((edge.start, points[0]), (edge.end, points[-1])):
            left, top = layout.boxes[name]
            assert x in (left, left + WIDTH)
            assert abs(y - (top + HEIGHT / 2)) < 0.01
    assert all(
        0 <= x <= layout.width - WIDTH and 0 <= y <= layout.height - HEIGHT for x, y in layout.boxes.values()
    )
