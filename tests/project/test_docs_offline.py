"""The check that fails the build of the documentation if a page loads something from another host."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def offline():
    spec = importlib.util.spec_from_file_location("docs_offline", DOCS / "offline.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "page",
    [
        '<script async="async" src="https://cdn.example/mathjax.js"></script>',
        '<link rel="stylesheet" href="http://cdn.example/style.css"/>',
        '<link rel="preload" as="font" href="//cdn.example/font.woff2">',
        "<img alt='' src='https://example/badge.svg'>",
        '<iframe src="https://example/"></iframe>',
        "<img\n  src=https://example/badge.svg>",
        '<style>@font-face { src: url("https://example/font.woff2") }</style>',
    ],
)
def test_what_is_loaded_from_another_host_is_found(offline, page):
    assert len(offline.other_hosts(page)) == 1


@pytest.mark.parametrize(
    "page",
    [
        '<a href="https://example/">a link to follow</a>',
        '<script src="_static/documentation_options.js"></script>',
        '<link rel="canonical" href="https://example/page.html">',
        '<img src="data:image/png;base64,AAAA">',
        "<p>https://example/ in the text</p>",
        '<svg xmlns="http://www.w3.org/2000/svg"></svg>',
    ],
)
def test_what_loads_nothing_is_left_alone(offline, page):
    assert offline.other_hosts(page) == []


@pytest.mark.parametrize("style", ['@import "https://example/a.css";', "body { background: url(//example/a.png) }"])
def test_style_sheets_are_looked_at_too(offline, style):
    assert len(offline.other_hosts(style, is_style=True)) == 1


def test_a_build_with_such_a_page_fails(offline, tmp_path):
    app = SimpleNamespace(outdir=str(tmp_path), builder=SimpleNamespace(format="html"))
    (tmp_path / "index.html").write_text('<img src="images/a.png">')
    offline.refuse_other_hosts(app, None)
    (tmp_path / "index.html").write_text('<img src="https://example/a.png">')
    with pytest.raises(ValueError, match=r"index\.html loads https://example/a\.png"):
        offline.refuse_other_hosts(app, None)
