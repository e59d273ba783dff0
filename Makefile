# Every target sets itself up: a machine needs Python >= 3.10 and nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PACKAGE := $(VENV)/package
INSTALLED := $(VENV)/installed

# As many test processes as there are cores. What shares a crawl or a browser stays in one of
# them (tests/conftest.py), so that nothing is set up twice.
WORKERS ?= $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
export WORKERS
# Hundreds of processes are started, and would compile all of the package each time.
unexport PYTHONDONTWRITEBYTECODE
PYTEST := $(BIN)/python -m pytest -q -n $(WORKERS) --dist loadgroup

# Interpreters that pyenv has and that PATH may not name.
PYENV := $(wildcard $(HOME)/.pyenv/versions/3.*/bin)
MORE_PATH = $$(echo '$(addprefix :,$(PYENV))' | tr -d ' ')

.PHONY: help demo test test-long test-all test-rest test-oldest test-ecosystem coverage differential lint docs \
	site package foreign-lists tracking-list \
	bench bench-quick bench-long bench-flame bench-crawl bench-memory bench-seen-sets bench-report bench-learn bench-verdicts bench-novelty bench-broad bench-profiles bench-suspicions fuzz \
	soak-kill soak-disk soak-redis clean

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-15s %s\n", $$1, $$2 }' Makefile

demo: $(PACKAGE)  ## crawl the example site with the plugin off and on, and learn from it
	$(BIN)/python example_project/demo.py

test: $(INSTALLED) lint  ## check style and types, run all tests
	@echo "Running all tests with $(WORKERS) processes; with two this takes from five to ten minutes."
	$(PYTEST)

test-long: $(INSTALLED)  ## run the long forms of tests whose short forms `make test` runs
	$(PYTEST) -m long

coverage: $(INSTALLED)  ## run all tests, show what they do not run, fail below the floor
	$(PYTEST) --cov

DIFFERENTIAL_SEEDS ?= 1000
differential: $(INSTALLED)  ## crawl random sites with the plugin off and on; shrink what fails
	PYTHONPATH=tests $(BIN)/python -m differential --seeds $(DIFFERENTIAL_SEEDS)

test-all: $(INSTALLED)  ## run all tests with each Python that is here, and with the oldest releases
	$(BIN)/pip install --quiet 'tox>=4.21'
	PATH="$$PATH$(MORE_PATH)" $(BIN)/tox

test-rest: $(INSTALLED)  ## what test-all runs and test does not: other Pythons, oldest releases
	$(BIN)/pip install --quiet 'tox>=4.21'
	PATH="$$PATH$(MORE_PATH)" \
		TOX_SKIP_ENV="$$($(BIN)/python -c 'import sys; print("py%d%d" % sys.version_info[:2])')" \
		$(BIN)/tox

test-oldest: $(INSTALLED)  ## run all tests with the oldest releases that they hold with
	$(BIN)/pip install --quiet 'tox>=4.21'
	PATH="$$PATH$(MORE_PATH)" $(BIN)/tox run -e oldest

test-ecosystem: $(INSTALLED)  ## crawl with the packages of docs/ecosystem.md, in an environment of their own
	test -d build/ecosystem || $(PYTHON) -m venv build/ecosystem
	build/ecosystem/bin/pip install --quiet --editable . pytest pytest-twisted hypothesis \
		--requirement tests/ecosystem/requirements.txt
	build/ecosystem/bin/python -m pytest -q tests/ecosystem

lint: $(INSTALLED)  ## check style and types
	$(BIN)/ruff format --check --quiet
	$(BIN)/ruff check --quiet
	$(BIN)/mypy

docs: $(INSTALLED)  ## write what is generated: rules, settings, stats, figures, types of options
	$(BIN)/python tools/rules_page.py
	$(BIN)/python tools/tables.py
	$(BIN)/python tools/figures.py
	$(BIN)/python tools/typed_options.py

site: $(INSTALLED)  ## build the site of the docs in build/site, failing on any warning
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs build/site

package: $(INSTALLED)  ## build the sdist and the wheel in dist, and check them
	$(BIN)/pip install --quiet build twine
	rm -rf dist
	$(BIN)/python -m build --outdir dist
	$(BIN)/twine check --strict dist/*

# FILES: published lists, as downloaded.
foreign-lists: $(INSTALLED)  ## say how much of published lists is read, and compare what ours do
	$(BIN)/python tools/foreign_list.py $(FILES) --urls ../shared/corpora/top100.txt.gz

# Adds the parameters of FILES (name=licence, see --help) to the tracking list.
tracking-list: $(INSTALLED)  ## rebuild the list of tracking parameters
	$(BIN)/python tools/tracking_list.py $(FILES)

bench: $(INSTALLED)  ## what a fingerprint, the parts and the store cost, with their aims, in minutes
	$(BIN)/pip install --quiet --requirement benchmarks/requirements.txt
	$(BIN)/python -W ignore -m benchmarks.bench

bench-quick: $(INSTALLED)  ## the same of less, in a minute; its figures are no more than a hint
	$(BIN)/pip install --quiet --requirement benchmarks/requirements.txt
	$(BIN)/python -W ignore -m benchmarks.bench --quick

LONG_CRAWL ?= 100000
bench-long: $(INSTALLED)  ## crawl LONG_CRAWL pages with all parts: throughput, memory, longest block
	$(BIN)/python -W ignore -m benchmarks.safety --long --pages $(LONG_CRAWL)

bench-flame: $(INSTALLED)  ## draw where the CPU of a crawl with all parts goes, and whose code it is
	$(BIN)/python -W ignore -m benchmarks.flame

bench-crawl: $(INSTALLED)  ## what the plugin costs in a whole crawl
	$(BIN)/pip install --quiet --requirement benchmarks/requirements.txt
	$(BIN)/python -W ignore -m benchmarks.crawl

bench-memory: $(INSTALLED)  ## what is remembered so that nothing is lost, in bytes
	$(BIN)/python -W ignore -m benchmarks.bookkeeping
	$(BIN)/python -W ignore -m benchmarks.resume

bench-seen-sets: $(INSTALLED)  ## ten million URLs in each seen-set, the one on disk killed 20 times
	$(BIN)/python -W ignore -m benchmarks.seen_sets

bench-report: $(INSTALLED)  ## how soon the report of 50,000 dropped variants is open, in Chromium
	$(BIN)/python -m benchmarks.report

bench-learn: $(INSTALLED)  ## judge what is learned on the corpora in ../shared/corpora
	$(BIN)/python -m benchmarks.learn
	$(BIN)/python -m benchmarks.learn.unseen --false --classes \
		--json benchmarks/results/learn-unseen.json
	$(BIN)/python -m benchmarks.learn.unseen --cut-short --most 7000 \
		--json benchmarks/results/learn-cut-short.json
	$(BIN)/python -m benchmarks.learn.unseen --thresholds --most 7000 \
		--json benchmarks/results/learn-thresholds.json
	$(BIN)/python -m benchmarks.learn.control
	$(BIN)/python -m benchmarks.learn.ceiling
	$(BIN)/python -m benchmarks.learn.synthetic --json benchmarks/results/learn-changes.json
	$(BIN)/python -m benchmarks.learn.kinds --json benchmarks/results/learn-kinds.json
	$(BIN)/python -m benchmarks.learn.forms --seeds 0 1 2 3 --changing 0 .03 \
		--json benchmarks/results/learn-forms.json

VERDICT_SEEDS ?= 100
bench-verdicts: $(INSTALLED)  ## judge audit and validate on sites that move, right and wrong rules
	PYTHONPATH=.:example_project $(BIN)/python -m benchmarks.verdicts --seeds $(VERDICT_SEEDS) \
		--page --json benchmarks/results/verdicts.json

bench-broad: $(INSTALLED)  ## what the order takes of CPU and memory for 10,000 hosts, and for 10 million predictions
	$(BIN)/python -m benchmarks.novelty.broad

bench-novelty: $(INSTALLED)  ## what fetching by expected news brings, on real programs and on traps
	$(BIN)/pip install --quiet --requirement benchmarks/requirements.txt
	$(BIN)/python -m benchmarks.novelty --page --json benchmarks/results/novelty.json

bench-profiles: $(INSTALLED)  ## crawl real programs with and without what is known of them
	$(BIN)/python -m benchmarks.profiles --page --json benchmarks/results/profiles.json

bench-suspicions: $(INSTALLED)  ## judge what is known of programs on the corpora in ../shared/corpora
	$(BIN)/python -m benchmarks.profiles.odds
	$(BIN)/python -m benchmarks.profiles.corpus --json
	$(BIN)/python -m benchmarks.profiles.prior --json
	$(BIN)/python -m benchmarks.profiles --programs --page --json benchmarks/results/profiles.json

SOAK := PYTHONPATH=.:tests:example_project $(BIN)/python tests/soak/soak.py
soak-kill: $(INSTALLED)  ## kill and resume jobs 50 times at random moments, and count what is lost
	$(SOAK)

soak-redis: $(INSTALLED)  ## four processes on one frontier in Redis, killed and restarted: what is lost
	PYTHONPATH=.:tests:example_project $(BIN)/python -W ignore -m benchmarks.shared_frontier

soak-disk: $(INSTALLED)  ## the same on a disk that fills and empties
	$(SOAK) --disk

FUZZ_SECONDS ?= 600
fuzz: $(INSTALLED)  ## fuzz what reads foreign text, for FUZZ_SECONDS
	$(BIN)/pip install --quiet 'atheris>=3'
	$(BIN)/python fuzz/fuzz_urls_and_readers.py -max_total_time=$(FUZZ_SECONDS)

clean:  ## remove the environments and what was built
	rm -rf $(VENV) .tox build dist .coverage*

# The package and what it needs; what else is there stays.
$(PACKAGE): setup.cfg setup.py pyproject.toml $(wildcard scrapy_urlcanon/*/*/compiled.pyx)
	@echo "Installing Scrapy and scrapy-urlcanon into $(VENV), some 150 MB; this takes a minute or two."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(INSTALLED): $(PACKAGE)
	@echo "Installing what the tests and the docs need into $(VENV), some 600 MB; this takes minutes."
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test,docs]'
	@touch $@
