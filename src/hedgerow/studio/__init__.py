"""The studio: all commands as pages in a browser, working on the files of one folder.

In: a folder and requests of one browser. Out: pages, and the same files as the commands write. The
plan file is the state: neither the browser nor the server keeps anything that is not in the files.
Commands that read confidential data run in separate processes.

**How to add a page.** A page is one module, one template and one file of texts:

1. ``pages/NAME.py`` with ``PAGE = Page(name="NAME", routes=(...))``. Its first route is
   ``Route("/NAME", view(_show))``; the paths of all others begin with ``/NAME/``, because the token
   of a page is valid only below its own name. `shell.view` wraps handlers of GET requests,
   `shell.change` handlers of POST requests (with the form as second argument). Both run the handler
   in a thread and show a `HedgerowError` as a refusal on the page or in the form.
2. ``templates/NAME.html.j2``, which begins with ``{% extends "base.html.j2" %}`` and
   ``{% from "parts.html.j2" import command, term, field %}``, and fills ``{% block content %}``.
   `shell.page_answer` renders it; parts for htmx are templates whose names begin with ``_``.
   Scripts, styles and ``on...`` attributes are refused by the content policy. Classes are in
   ``static/studio.css`` (those of one page in ``static/NAME.css``, linked in ``{% block head %}``).
3. ``texts/NAME.toml`` with all texts of the page: ``{{ t.some.key }}``; those of all pages are in
   ``texts/common.toml``: ``{{ c.key }}``. A test refuses texts in templates.
4. One line in ``pages/__init__.py``, in the order of the navigation.

Building blocks of a page: `shell.studio_of` (the `Studio`: ``folder``, ``runs``),
`shell.shown_plan` (the plan named by ``?plan=``, a `planfile.PlanFile`), `folder.Folder` (all paths
from the browser go through ``folder.inside``), `runs.Runs` (commands as processes with progress,
shown by the part ``_run.html.j2``), `shell.framed_report` (a report for a sandboxed frame), and
`planfile` (edits that keep comments).
"""
