# `make demo` and `make test` do everything on a machine that has Python 3.11, make and git.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# The program alone, without the tools of its developers.
PROGRAM := $(VENV)/.program
# One more than the cores of a small machine: a third of the time tests wait for processes that begin.
JOBS ?= 3

.PHONY: demo test test-thorough test-all test-browser test-servers test-graphql test-matrix test-cluster check bench bench-corpora bench-findings docs clean

demo: $(PROGRAM)
	@# 1 says that defects were found, as they should be.
	$(BIN)/checker demo; test $$? -eq 1

# Each claim of docs/developers/promises.md once.
test: $(STAMP)
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -q -m "not thorough"

# The same claims with further seeds, kills, sizes and services. WITHOUT="tests/hostile/test_documents.py" leaves some out.
test-thorough: $(STAMP)
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -q -m thorough $(addprefix --ignore=,$(WITHOUT))

test-all: test test-thorough test-graphql test-matrix test-servers test-browser test-cluster

# The HTML report and the search of the site in a real browser, the report by the validator of the W3C, collections of requests by
# a client of theirs: needs Chromium and Java, and npm fetches the rest.
test-browser: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'playwright>=1.50' 'mkdocs-material>=9.6,<10'
	npm install --no-save --silent --prefix .browser axe-core@4 httpyac@6 vnu-jar@26 || npm install --no-save --silent --prefix .browser axe-core httpyac vnu-jar
	$(BIN)/python -m pytest -q tests/browser

# Servers of GraphQL on Node: npm fetches them.
test-servers: $(STAMP)
	npm install --no-save --silent --prefix tests/servers graphql-yoga@5 @apollo/server@5 graphql@16
	$(BIN)/python -m pytest -q tests/servers

# The tests of GraphQL with graphql-core 3.3 and a current Strawberry, put in front of the installed versions. Graphene needs 3.2.
GRAPHQL := $(abspath $(VENV))/graphql-3.3
test-graphql: $(GRAPHQL)/.installed
	PYTHONPATH=$(GRAPHQL) $(BIN)/python -m pytest -n $(JOBS) --dist worksteal -q tests/graphql_kind tests/e2e/test_graphql.py -k "not graphene"

$(GRAPHQL)/.installed: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --target $(GRAPHQL) --upgrade 'graphql-core>=3.3,<3.4' 'strawberry-graphql>=0.341'
	touch $@

# Workers on a cluster of two machines, both of which are this one. Without `-m "not thorough"`: 20 kills.
test-cluster: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'ray[client]>=2.9.3,<3'
	$(BIN)/python -m pytest -q -m "not thorough" tests/cluster

# The plugin with the pytests and Hypotheses of users, each in an environment of its own. CELLS="pytest-8.4 xdist" takes some.
# The distribution beside current frameworks, with its oldest dependencies, and with other interpreters.
test-matrix: $(STAMP)
	$(BIN)/python -m tests.plugin.matrix $(CELLS)
	$(BIN)/python -m tests.environments

check: $(STAMP)
	$(BIN)/ruff check checker tests benchmarks docs/reference.py
	$(BIN)/ruff format --check checker tests benchmarks docs/reference.py
	$(BIN)/mypy checker tests benchmarks
	$(BIN)/lint-imports

# The site: a broken link or anchor is an error.
docs: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'mkdocs-material>=9.6,<10'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

bench: $(STAMP)
	$(BIN)/python -m benchmarks.hot_path
	$(BIN)/python -m benchmarks.startup
	$(BIN)/python -m benchmarks.free_checks
	$(BIN)/python -m benchmarks.slow_target
	$(BIN)/python -m benchmarks.two_packets
	$(BIN)/python -m benchmarks.memory
	$(BIN)/python -m benchmarks.program_cache
	$(BIN)/python -m benchmarks.supervisor_turns
	$(BIN)/python -m benchmarks.fleet
	$(BIN)/python -m benchmarks.chaos

# What findings are worth, counted: their causes, classes and commands, what is learned and warned of, a target that dies, turns
# everybody away or is not there. SUTS: a folder with real services, laid out as benchmarks/real_services.py says.
bench-findings: $(STAMP)
	$(BIN)/python -m benchmarks.wrong_targets
	$(BIN)/python -m benchmarks.confirmation
	$(BIN)/python -m benchmarks.deaths
	$(BIN)/python -m pytest -q tests/health tests/workers/test_learning_of_frameworks.py tests/workers/test_demands.py tests/cli/test_warning_apps.py
	$(BIN)/python -m benchmarks.causes
	test -z "$(SUTS)" || $(BIN)/python -m benchmarks.real_services $(SUTS)

# CORPORA: a folder with API descriptions and schemas, laid out as tests/measuring/corpora.py says. SHARE: 1/20 takes every twentieth.
SHARE ?= 1/20
bench-corpora: $(STAMP)
	@test -n "$(CORPORA)" || { echo "give the folder: make bench-corpora CORPORA=..."; exit 2; }
	$(BIN)/python -m benchmarks.generation $(CORPORA) oracles positives speed:$(SHARE) negatives:openapi:$(SHARE) contract:$(SHARE)
	$(BIN)/python -m benchmarks.documents $(CORPORA) $(SHARE)
	$(BIN)/python -m benchmarks.referee $(CORPORA) $(SHARE)

$(PROGRAM): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("checker needs Python 3.11 or newer, found " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(STAMP): $(PROGRAM)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) .checker .proptest checker-report
