# make demo   set everything up, run the travel agent: trace it, evaluate it, show what was stored
# make view   plant a demo store where there is none, open its pages in the browser
# make test   set everything up, run the tests but those of faults, on all processors (one more at a time than there are)
# make faults-small  the fork, kill, signal and many-process tests at small counts
# make browser  the pages in a real browser (Debian's chromium): skipped, visibly, where it is absent
# make properties  the tests of properties with 200 values each instead of 40
# make check  all of it: format, lint, types, layers, tests, docs, properties, faults, wheel, gate
# make coverage  run the tests, then show what share of the branches they reach, room by room
# make gate   count the instructions of the main paths; fails where one takes more than accepted
# make gate-accept WHY="..."  accept what they take now; WHY is needed where a path is dearer
# make bench  measure, beside whichever peers are installed; rewrites benchmarks/RESULTS.md (ONLY=pages: one section)
# make pictures  plant a demo store, take the pictures of docs/pictures anew (needs chromium)
# make map    write docs/map.md anew: which module holds what
# make interop  run frameworks, old SDKs and real servers, each in an environment of its own; a gigabyte each
# make faults the tests of all fault scenarios at full counts; rewrites docs/faults.md
# make faults-page  write docs/faults.md anew from its tables alone
# make mutants  take each protection away in a copy of the tree: which test notices? (ONLY=lock: some of them)
# make pythons  run a small suite with each Python from 3.11 on that is found, free-threaded ones too

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Many tests wait for a process, a socket or a time limit: one more at a time than there are processors.
WORKERS := $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')

# The tests start many processes: without bytecode, each would compile the package anew.
export PYTHONDONTWRITEBYTECODE :=

# The files with such tests: to collect all others only to choose none of them takes each process half a minute.
FAULTS = $(shell grep -rlE --include='test_*.py' '^from faults|mark\.faults' tests)
PROPERTIES = $(shell grep -rlE --include='test_*.py' 'hypothesis' tests)
BROWSER = $(shell grep -rlE --include='test_*.py' 'browsing|mark\.browser' tests)

.PHONY: demo view browser test check coverage lint types mypy pyright layers wheel gate gate-accept bench properties faults faults-small faults-page mutants pythons map redaction-table pictures interop clean

$(READY): pyproject.toml constraints.txt requirements-dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "agenttrace needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; name another with: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -r requirements-dev.txt -e .
	@touch $(READY)

demo: $(READY)
	@$(BIN)/python examples/travel_agent/run.py

view: $(READY)
	@test -e .agenttrace/demo.db || $(BIN)/agenttrace demo > /dev/null
	@$(BIN)/agenttrace view --store .agenttrace/demo.db

# Measuring doubles the time of each value; `make properties` tries 200 of them unmeasured.
test: $(READY)
	$(if $(COVERAGE),HYPOTHESIS_PROFILE=few )$(BIN)/python -m pytest -q -n $(WORKERS) -m "not faults and not browser" $(if $(COVERAGE),--cov --cov-report=)

browser: $(READY)
	$(BIN)/python -m pytest -q -rs -m browser $(BROWSER)

coverage: $(READY)
	$(MAKE) test COVERAGE=1
	$(BIN)/python tests/coverage_by_room.py

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: mypy pyright

mypy: $(READY)
	$(BIN)/mypy

pyright: $(READY)
	$(BIN)/pyright

layers: $(READY)
	$(BIN)/lint-imports

wheel: $(READY)
	$(BIN)/python tests/wheel/check_wheel.py

gate: $(READY)
	$(BIN)/python benchmarks/gate.py

gate-accept: $(READY)
	$(BIN)/python benchmarks/gate.py --accept "$$WHY"

check: lint types layers wheel properties faults-small test gate

interop: $(READY)
	@failed=0; for each in recipes sdks receivers remote_agents; do $(BIN)/python tests/interop/$$each.py || failed=1; done; exit $$failed

redaction-table: $(READY)
	$(BIN)/python -m benchmarks.redaction

map: $(READY)
	$(BIN)/python docs/make_map.py

pictures: $(READY)
	$(BIN)/python docs/make_pictures.py

bench: $(READY)
	$(BIN)/python benchmarks/run.py $(if $(ONLY),--only $(ONLY))

properties: $(READY)
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -q -n auto -m hypothesis $(PROPERTIES)

faults-small: $(READY)
	$(BIN)/python -m pytest -q -n $(WORKERS) -m faults $(FAULTS)

faults: $(READY)
	$(BIN)/python tests/faults/run_full.py

faults-page: $(READY)
	$(BIN)/python docs/make_faults.py

mutants: $(READY)
	$(BIN)/python tests/faults/run_mutants.py $(if $(ONLY),--only $(ONLY))

pythons: $(READY)
	$(BIN)/python tests/faults/run_pythons.py

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .agenttrace
