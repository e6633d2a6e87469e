# Every target makes the project's virtual environment if there is none and reuses it
# otherwise; it is rebuilt when the lock changes. Needed: Python 3.11 or later, make and
# a package index, the last only for the first run.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
SITE_READY := $(VENV)/.site-ready
LOCK := requirements/dev.lock
# Compiled modules are kept: the tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test coverage lowest check audit pages site goldens mutants bench bench-large table papers format lint types docs lock clean

demo: $(READY)  ## publish the bundled UCI Adult table and show what the release keeps
	$(BIN)/hedgerow demo --out demo --force

test: $(READY)  ## run the tests
	$(BIN)/python -m pytest -q -n auto --dist loadfile

coverage: $(READY)  ## which lines and branches the tests reach; names those they do not
	$(BIN)/python -m pytest -q -n auto --dist loadfile --cov --cov-report=term --cov-report=html:coverage

lowest:  ## run the tests on the lowest versions of all dependencies that pyproject.toml allows
	$(MAKE) test VENV=.venv-lowest LOCK=requirements/lowest.lock

check: lint types test docs  ## everything that continuous integration runs

audit: $(READY)  ## slow statistical audits of the privacy of every method
	$(BIN)/hedgerow audit --runs 1000 --out bench-results/audit
	$(BIN)/hedgerow audit --per-person --runs 500 --out bench-results/audit-people
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m audit

pages: $(READY)  ## every page in Chromium with axe-core; skips, saying so, without Chromium or Node.js
	$(BIN)/python tools/pages.py
	$(BIN)/python tools/studio.py

site: $(SITE_READY)  ## the documentation site in .site/html: warnings are errors, links followed, every page in Chromium
	$(BIN)/python tools/build_site.py --look

goldens: $(READY)  ## write the JSON schemas and docs/cli.md again; RELEASES=1 also the release digests
	$(BIN)/python tools/goldens.py $(if $(RELEASES),--releases)

mutants: $(READY)  ## plant small faults in the private code: does a test notice each? (about an hour)
	$(BIN)/python tools/mutants.py
	$(BIN)/python tools/mutants.py --table

bench: $(READY)  ## speed, as ratios against a reference timed in the same run
	$(BIN)/python benchmarks/bench_noise.py
	$(BIN)/python benchmarks/bench_count.py
	$(BIN)/python benchmarks/bench_publish.py
	$(BIN)/python benchmarks/bench_wide.py
	$(BIN)/python benchmarks/evaluate_wide.py --columns 42 --methods hedge
	$(BIN)/python benchmarks/bench_people.py
	$(BIN)/python benchmarks/bench_ledger.py
	$(BIN)/python benchmarks/bench_baskets.py
	$(BIN)/python benchmarks/bench_disclose.py
	$(BIN)/python benchmarks/disclose_adult.py
	$(BIN)/python benchmarks/bench_engines.py

bench-large: $(READY)  ## the engines at 1, 10 and 100 million records; needs 10 GB of disk
	$(BIN)/python benchmarks/bench_engines.py 1000000 10000000 100000000
	$(BIN)/python benchmarks/bench_people.py 100000000 --stream 2GB

table: $(READY)  ## the tables of all methods in docs/ and research/
	$(BIN)/python benchmarks/all_methods.py --write

papers: $(READY)  ## every figure of the papers, run again in full (about half an hour of CPU time)
	$(BIN)/python -m experiments run all --out bench-results/papers

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(READY)
	$(BIN)/mypy

docs: $(READY)  ## run the examples in docstrings and documentation
	$(BIN)/python -m pytest -q --doctest-modules --doctest-glob='*.md' src docs README.md research/evaluation.md

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Universal, so that every system and Python from 3.11 on installs from the same file.
PINNED = uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --quiet

lock:  ## pin the dependencies again, newest and lowest (needs uv)
	$(PINNED) --extra all --group dev pyproject.toml -o requirements/dev.lock
	rm -f requirements/lowest.in requirements/lowest.lock
	$(PINNED) --resolution lowest-direct --extra all pyproject.toml -o requirements/lowest.in
	$(PINNED) --extra all --group dev -c requirements/lowest.in pyproject.toml -o requirements/lowest.lock
	rm requirements/lowest.in
	$(PINNED) --constraint requirements/dev.lock --group site -o requirements/site.lock

clean:
	rm -rf $(VENV) .venv-lowest demo .site .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(READY): $(LOCK) pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "hedgerow needs Python 3.11 or later; set PYTHON=/path/to/python3.11"; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(LOCK)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

$(SITE_READY): $(READY) requirements/site.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/site.lock
	touch $@
