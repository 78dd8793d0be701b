"""Sphinx settings. `make docs` builds; TAUFORGE_GALLERY=0 leaves the examples unrun."""

from __future__ import annotations

import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path

from sphinx.application import Sphinx

from tauforge import __version__

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))

project = "tauforge"
author = "The tauforge developers"
project_copyright = author
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "plain_docstrings",
    "robot_pictures",
]
exclude_patterns = ["_build", "extensions", "**/*.ipynb", "**/sg_execution_times.rst", "sg_execution_times.rst"]
# The gallery's settings hold a function; and it takes a blank in the path of the checkout for one in an example's name.
suppress_warnings = ["config.cache", "sphinx_gallery.space_in_filename"]
nitpicky = True
# Types in signatures stand as in the source; those that have no page, NumPy's, Python's and some of ours, have no link.
nitpick_ignore_regex = [
    ("py:class", r"[A-Z]\w*"),
    ("py:class", r"(numpy|os|tauforge\.robots|tauforge\.formulations)\..*"),
]

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
html_math_renderer = "mathml"

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # plain_docstrings writes them, as the source has them
autodoc_preserve_defaults = True
add_module_names = False
toc_object_entries_show_parents = "hide"
smartquotes = False  # a prime is a transpose
python_use_unqualified_type_names = True
maximum_signature_line_length = 88

# An example that needs a library of an extra is run where that is installed, and shown without its figure elsewhere.
NEEDS = {"13": "torch", "14": "casadi"}
EXAMPLES = "/(?!{})\\d\\d_".format("|".join(k for k, name in NEEDS.items() if find_spec(name) is None) or "x")
sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "filename_pattern": EXAMPLES,
    "plot_gallery": os.environ.get("TAUFORGE_GALLERY", "1") != "0",
    "abort_on_example_error": True,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "image_scrapers": ("matplotlib",),
    "min_reported_time": 10_000,
}

html_theme = "pydata_sphinx_theme"
html_title = "tauforge"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}
html_sidebars = {"quickstart": [], "index": []}
html_theme_options = {
    "navbar_align": "content",
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}


def gallery_links(_: Sphinx, __: str, source: list[str]) -> None:
    """Pages link to the examples' files, which whoever reads the checkout has; the site has a page of each instead."""
    source[0] = re.sub(r"\]\(\.\./examples/(\w+)\.py\)", r"](gallery/\1.rst)", source[0])
    source[0] = source[0].replace("](../examples)", "](gallery/index.rst)")


def setup(app: Sphinx) -> None:
    app.connect("source-read", gallery_links)
