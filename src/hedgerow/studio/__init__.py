"""The whole tool as pages in a browser: a folder comes in, the same files leave as by the commands.

The plan file is the state: nothing is kept in the browser or in the server's memory that the
files do not say. Whatever reads confidential data runs as a command in a process of its own.

**How to add a page.** A page is one module and one template:

1. ``pages/NAME.py`` with ``PAGE = Page(name="NAME", routes=(...))``. Its first route is
   ``Route("/NAME", view(_show))``; all its others begin with ``/NAME/``, as the token of a page is
   good for addresses below its own name only. `shell.view` wraps what answers a GET,
   `shell.change` what answers a POST (it gets the form as a second argument); both run in a
   thread, and both turn a `HedgerowError` into the page's or the form's refusal.
2. ``templates/NAME.html.j2``, which begins with ``{% extends "base.html.j2" %}`` and
   ``{% from "parts.html.j2" import command, term, field %}``, and fills ``{% block content %}``.
   `shell.page_answer` fills it in; parts for htmx are templates whose names begin with ``_``.
   No script, style or ``on...`` attribute inside: the content policy refuses them. Classes are in
   ``static/studio.css`` (a page's own: ``static/NAME.css``, linked in ``{% block head %}``).
3. ``texts/NAME.toml`` with every English word: ``{{ t.some.key }}``; those of all pages are in
   ``texts/common.toml``: ``{{ c.key }}``. A test refuses words in templates.
4. one line in ``pages/__init__.py``. The order of the navigation is there already.

What a page may use: `shell.studio_of` (the `Studio`: ``folder``, ``runs``), `shell.shown_plan` (the
plan that ``?plan=`` names, a `planfile.PlanFile`), `folder.Folder` (all paths that come from the
browser go through ``folder.inside``), `runs.Runs` (commands as processes with progress: the part
``_run.html.j2`` shows one), `framed.framed_report` (a report for a sandboxed frame), and
`planfile` (edits that keep comments).
"""
