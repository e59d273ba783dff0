# Every target sets itself up: a machine needs Python >= 3.10 and nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed

.PHONY: demo test lint clean

demo: $(INSTALLED)  ## crawl the example site with the plugin off and on
	$(BIN)/python example_project/demo.py

test: $(INSTALLED) lint  ## check style and types, run all tests
	$(BIN)/python -m pytest -q

lint: $(INSTALLED)
	$(BIN)/ruff format --check --quiet
	$(BIN)/ruff check --quiet
	$(BIN)/mypy

clean:
	rm -rf $(VENV)

$(INSTALLED): setup.cfg pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --editable '.[test]'
	touch $@
