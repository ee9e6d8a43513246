# `make` alone lists the targets. Everything is installed into .venv beside this file.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RULESET ?= ourgame-simple
SEED ?= 7
WORKERS ?= 3

.DEFAULT_GOAL := help
.PHONY: help demo play up test soak check format generate bench release-artifact clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-17s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("baohuang needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

$(VENV)/.bench: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	@touch $@

demo: $(VENV)/.installed ## from tickets over a hand to the leaderboard, over gRPC, e.g. make demo RULESET=homy-qingdao SEED=7
	@$(BIN)/baohuang demo --ruleset "$(RULESET)" --seed "$(SEED)"

play: $(VENV)/.installed ## play a hand yourself in this terminal, against four bots
	@$(BIN)/baohuang play --ruleset "$(RULESET)"

up: $(VENV)/.installed ## PostgreSQL, NATS and the services on this machine, until Ctrl-C
	@$(BIN)/baohuang up

test: $(VENV)/.installed ## all tests, against embedded PostgreSQL and NATS
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

soak: $(VENV)/.installed ## twenty kills while twenty tables play ten hands each; some ten minutes
	$(BIN)/pytest tests/up/kills -s --timeout 3600 --kill-tables 20 --kill-hands 10 --kills 20

check: $(VENV)/.installed ## format, lint, types, import layers, contract, generated stubs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/buf lint proto
	$(BIN)/python proto/generate.py --check

format: $(VENV)/.installed ## rewrite the sources in the one format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

generate: $(VENV)/.installed ## regenerate shared/baohuang/gen from proto/
	$(BIN)/python proto/generate.py

bench: $(VENV)/.bench ## measure against named baselines, write bench.json
	$(BIN)/python -m tests.bench

release-artifact: $(VENV)/.installed ## keep of the commit that is checked out what the next release is tested against
	PYTHONPATH=tests $(BIN)/python -m upgrades.cut

clean: ## remove what the targets above made
	rm -rf $(VENV) build bench.json .pytest_cache .mypy_cache .ruff_cache .import_linter_cache *.egg-info
