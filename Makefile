# Every target sets itself up: a machine needs Python >= 3.10 and nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed

.PHONY: demo test test-oldest lint docs tracking-list bench bench-crawl bench-memory bench-learn fuzz clean

demo: $(INSTALLED)  ## crawl the example site with the plugin off and on
	$(BIN)/python example_project/demo.py

test: $(INSTALLED) lint  ## check style and types, run all tests
	$(BIN)/python -m pytest -q

test-oldest:  ## run all tests with the oldest releases that they hold with
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/pip install --quiet --constraint tests/oldest.txt --editable '.[test]'
	$(VENV)-oldest/bin/python -m pytest -q

lint: $(INSTALLED)
	$(BIN)/ruff format --check --quiet
	$(BIN)/ruff check --quiet
	$(BIN)/mypy

docs: $(INSTALLED)  ## write docs/rules.md, the page of the catalogue
	$(BIN)/python tools/rules_page.py

# Adds the parameters of FILES (name=licence, see --help) to the tracking list.
tracking-list: $(INSTALLED)  ## rebuild the list of tracking parameters
	$(BIN)/python tools/tracking_list.py $(FILES)

bench: $(INSTALLED)  ## what a fingerprint costs: time, memory, start-up
	$(BIN)/pip install --quiet --requirement benchmarks/requirements.txt
	$(BIN)/python -W ignore benchmarks/fingerprints.py

bench-crawl: $(INSTALLED)  ## what the plugin costs in a whole crawl
	$(BIN)/pip install --quiet --requirement benchmarks/requirements.txt
	$(BIN)/python -W ignore benchmarks/crawl.py

bench-memory: $(INSTALLED)  ## what is remembered so that nothing is lost, in bytes
	$(BIN)/python -W ignore benchmarks/bookkeeping.py

bench-learn: $(INSTALLED)  ## judge what is learned on ../shared/corpora/observations.tsv.gz
	$(BIN)/python -m benchmarks.learn

FUZZ_SECONDS ?= 600
fuzz: $(INSTALLED)  ## fuzz what reads foreign text, for FUZZ_SECONDS
	$(BIN)/pip install --quiet 'atheris>=3'
	$(BIN)/python fuzz/fuzz_urls_and_readers.py -max_total_time=$(FUZZ_SECONDS)

clean:
	rm -rf $(VENV) $(VENV)-oldest

$(INSTALLED): setup.cfg pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[test]'
	touch $@
