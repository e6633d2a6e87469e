"""Sphinx configuration of the documentation site; tools/build_site.py copies it to the sources."""

from importlib.metadata import version as installed

project = "hedgerow"
author = "the hedgerow authors"
copyright = f"{author}, MIT licence"  # noqa: A001
version = release = installed("hedgerow")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
source_suffix = {".md": "markdown"}
exclude_patterns: list[str] = []
language = "en_GB"
nitpicky = False

# Anchors are the same as on code hosts, so that links work on both.
myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
# Blocks of output, and plans with an ellipsis, are not valid code.
suppress_warnings = ["misc.highlighting_failure"]
highlight_language = "none"

# Docstrings of public names have NumPy's sections.
napoleon_google_docstring = False
napoleon_use_rtype = False
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "bysource"

html_theme = "pydata_sphinx_theme"
html_title = "hedgerow"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/hedgerow.svg"
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_use_index = False
html_domain_indices = False
html_theme_options = {
    "logo": {
        "text": "hedgerow",
        "image_light": "_static/hedgerow.svg",
        "image_dark": "_static/hedgerow-dark.svg",
    },
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "collapse_navigation": True,
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": ["copyright"],
    "footer_end": [],
    # The front page has no side bars, so that its code has room.
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
}
# Pages outside a section have no sidebar.
html_sidebars = {name: [] for name in ("index", "attacks", "faq", "cli", "glossary")}
html_context = {"default_mode": "auto"}
