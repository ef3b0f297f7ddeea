from __future__ import annotations

from pathlib import Path

import pytest
from index.notebook import Notebook

from memtool.index.reach import is_named, projects_in, reach

ON_BOTH_ENGINES = True


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    """A vault of three projects, a tool and a note of none."""
    notebook = Notebook(tmp_path.resolve() / "vault")
    for project in ("shop", "shop-web", "快充"):
        notebook.write(f"areas/projects/{project}/knowledge/a.md", "# a\n\nA zeppelin 飞艇.\n")
    notebook.write("areas/tools/docker/summary.md", "A zeppelin.\n")
    notebook.write("daily/2026-02-10.md", "Another one.\n")
    return notebook


def test_the_projects_are_those_of_the_chunks(notebook: Notebook) -> None:
    assert notebook.use(lambda index: projects_in(index.db)) == ["shop", "shop-web", "快充"]


@pytest.mark.parametrize(
    ("here", "text", "projects"),
    [
        ("", "in shop", ()),
        ("shop", "", ("shop", "")),
        ("shop", "a zeppelin", ("shop", "")),
        ("shop", "我们在快充里怎么做的？", ("shop", "", "快充")),
        ("快充", "as in Shop-Web?", ("快充", "", "shop-web")),
        ("SHOP", "the shop", ("SHOP", "")),
        ("other", "", ("other", "")),
    ],
)
def test_what_may_surface_is_of_the_project_of_none_or_asked_for(
    notebook: Notebook, here: str, text: str, projects: tuple[str, ...]
) -> None:
    assert notebook.use(lambda index: reach(index.db, here, text)) == projects


@pytest.mark.parametrize(
    ("project", "text", "named"),
    [
        ("shop", "how does the SHOP do it?", True),
        ("shop", "在shop里部署", True),
        ("shop", "workshop shopping", False),
        ("shop", "shop-web shop_api", False),
        ("shop", "workshop, and the shop", True),
        ("café", "the cafe", True),
        ("快充", "快充的接口", True),
        ("快充", "快 充", False),
        ("go", "go on", False),
        ("ü", "ü", False),
        ("a.b", "see a.b.", True),
        ("a.b", "see axb", False),
        ("", "x", False),
    ],
)
def test_a_name_counts_as_a_whole(project: str, text: str, named: bool) -> None:
    assert is_named(project, text) is named
