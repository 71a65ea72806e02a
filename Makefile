# `make` alone explains the targets. Each target sets up what it needs: nothing has to be run first.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PEERS_QUERIES ?= 10000
PEERS_SEED ?= 1
KERNEL_TESTS := $(wildcard tests/kernels tests/execution/segments/test_functions.py tests/execution/segments/test_sets.py \
  tests/execution/test_*.py tests/properties tests/traps/test_05* tests/traps/test_17*)

.DEFAULT_GOAL := help
.PHONY: help demo demo-stream test lint unit spark coverage connect thorough peers bench docs site wheel matrix clean java python

help:  ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: java $(READY)  ## find cold waves in the weather of 12 cities: prints a table, draws a picture into ./demo
	@$(BIN)/python -m trellis.demo

demo-stream: java $(READY)  ## find stolen cards in a stream of payments: prints each alert as it is found, for half a minute
	@$(BIN)/python -m trellis.demo_stream

test: java $(READY)  ## run everything that CI runs: lint, types, all tests
	$(MAKE) lint
	$(MAKE) unit
	$(MAKE) --jobs=2 --output-sync=target spark connect

lint: $(READY)  ## check style, format and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

unit: $(READY)  ## run the tests that need no JVM, some of them with the JIT compiler off
	$(BIN)/trellis warmup
	$(BIN)/pytest -n 2 --dist worksteal --slow
	NUMBA_DISABLE_JIT=1 TRELLIS_PROFILE=few $(BIN)/pytest -n 2 --dist worksteal tests/properties tests/execution

spark: java $(READY)  ## run the tests that need Spark
	$(BIN)/pytest -m 'spark and not thorough'

coverage: $(READY)  ## run the kernels' tests with the JIT compiler off and report which lines they reach
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest $(KERNEL_TESTS)
	$(BIN)/coverage report --include='*/trellis/kernels/*'

connect: java $(READY)  ## run the tests that concern Spark Connect on a local Connect server
	$(BIN)/pytest --connect

thorough: java coverage $(VENV)/.site  ## draw thirty times as many random cases, then the cases that take long in Spark, many threads, all benchmarks
	TRELLIS_PROFILE=thorough $(BIN)/pytest -n 2 --dist worksteal --slow
	TRELLIS_PROFILE=thorough $(BIN)/pytest -m spark tests/properties
	$(BIN)/pytest --connect --thorough
	$(BIN)/pytest --thorough

peers: java $(READY)  ## compare with a real Trino on random queries: needs Java 25 and, once, Maven (PEERS_QUERIES=10000)
	PYTHONPATH=tests $(BIN)/python -m peers --queries $(PEERS_QUERIES) --seed $(PEERS_SEED)

bench: $(READY)  ## list the benchmarks, or run one: make bench BENCH=rows, or BENCH="rows --quick" for some seconds
	@$(BIN)/python -m benchmarks $(BENCH)

docs: java $(READY)  ## run every example of README.md and docs/
	$(BIN)/pytest --spark tests/test_docs.py

site: $(VENV)/.site  ## build the documentation as a site that needs no server and no network, into ./site
	@$(BIN)/python tools/make_site.py

wheel: $(READY)  ## build a wheel with machine code, for this version of Python and kind of processor, into ./dist
	TRELLIS_MACHINE_CODE=1 $(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .

matrix: java $(READY)  ## try the wheel in fresh environments: Python 3.10 to 3.13 with Spark 4.0 to 4.3 (MATRIX="--python 3.12 --spark 4.1")
	PYTHONPATH=tests $(BIN)/python -m matrix $(MATRIX)

clean:  ## remove the environment and everything that tools left behind
	rm -rf $(VENV) build dist site demo .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage .peers .kafka spark-warehouse
	find src tests benchmarks examples -name __pycache__ -prune -exec rm -rf {} +

# ---- what the targets need ----

$(READY): pyproject.toml | python
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

$(VENV)/.site: $(READY)
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@

python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if (3, 10) <= sys.version_info < (3, 14) else \
	  "Trellis needs Python 3.10 to 3.13, but %s is %s: run make PYTHON=python3.12, or another one that you have." \
	  % (sys.executable, sys.version.split()[0]))'

java: | python
	@$(PYTHON) src/trellis/java.py
