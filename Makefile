# memoryweb: `make run` and `make test` are all that a fresh machine needs, with Python 3.11+ and make.
# Works with GNU make 3.81, which macOS has, and uses relative paths only.

PYTHON ?= python3
ifneq ($(filter file default,$(origin PYTHON)),)
PYTHONS := python3 python3.13 python3.12 python3.11 python3.14
else
PYTHONS := "$(PYTHON)"
endif

VENV := .venv
PY := $(VENV)/bin/python
FILES := pyproject.toml constraints.txt

# Each stamp says that .venv holds the libraries of pyproject.toml for one purpose.
RUN := $(VENV)/.run-stamp
HOSTED := $(VENV)/.hosted-stamp
DEV := $(VENV)/.dev-stamp

# A worker that has no more to do takes tests from the other, whose servers take longer.
PYTEST := $(PY) -m pytest -n auto --dist worksteal
# Not even looked at are the directories of what takes longer.
FAST := $(PYTEST) -p no:schemathesis -p no:hypothesispytest -p no:playwright \
  -m "not slow and not hosted_only" --ignore=tests/browser --ignore=tests/sdk --ignore=tests/slow
WITHOUT_BROWSER := $(PYTEST) -m "not browser and not hosted_only and not sdk"
# One process, as the last of these tests looks at what all others did. The SDKs get a .venv-sdk/ of
# their own at the first run.
WITH_SDKS := $(PY) -m pytest tests/sdk
# Tests that drive a browser are a run of their own: playwright leaves an event loop running in its
# thread, in which Django refuses the database and pytest-asyncio cannot start another.
IN_BROWSER := $(PYTEST) -m "browser and not hosted_only" tests/browser
HOSTED_TESTS := $(PYTEST) --that-can-differ -m "not browser and not sqlite_only and not sdk" && \
  $(PY) -m pytest -m "browser and (hosted or hosted_only) and not sqlite_only" tests/browser

# With Postgres or Redis named, `make run` needs their libraries too.
ifneq ($(DATABASE_URL)$(REDIS_URL),)
SERVE := $(HOSTED)
else
SERVE := $(RUN)
endif

# On Postgres, web and workers wait for this.
ifneq ($(DATABASE_URL),)
PREPARE := $(PY) manage.py prepare &&
endif

# A .venv whose Python is gone (the system's was upgraded) is made anew, whatever its stamps say.
ifneq ($(shell $(PY) -c 'print("runs")' 2>/dev/null),runs)
.PHONY: $(RUN) $(HOSTED) $(DEV)
endif

.PHONY: help run install-hosted test test-fast test-hosted from-letta bench bench-hosted docs messages lint format clean
.NOTPARALLEL:
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Every process that the tests start would otherwise compile all the code anew.
unexport PYTHONDONTWRITEBYTECODE

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

run: $(SERVE) ## serve on http://127.0.0.1:8283 (HOST, PORT, MEMORYWEB_DATA)
	@$(PREPARE) exec $(PY) manage.py serve

install-hosted: $(HOSTED) ## the libraries for Postgres, Redis and workers

test: $(DEV) ## lint, types and all tests, with a real browser and the real SDKs
	@$(find_browser); $(call check,$(WITHOUT_BROWSER) && $(WITH_SDKS) && $(IN_BROWSER))

test-fast: $(DEV) ## lint, types and the tests that start no browser, server or SDK: two minutes
	@$(call check,$(FAST))

test-hosted: $(DEV) ## the tests that could differ there, against a real Postgres and a real Redis
	@$(find_browser); $(PY) -m tests.support.hosted_services -- sh -c '$(HOSTED_TESTS)'

from-letta: $(DEV) ## write the tables of docs/from-letta.md anew, from what the tests find
	@MEMORYWEB_WRITE_TABLES=1 $(PY) -m pytest -q tests/sdk tests/api/test_absent.py tests/api/test_notes.py

bench: $(DEV) ## how fast it is, as a table
	@$(PY) -m bench

bench-hosted: $(DEV) ## what a hosted deployment costs, and how it grows; Linux
	@$(PY) -m bench.hosted

docs: $(DEV) ## the documentation as a site in var/site/, with its pictures taken anew
	@$(find_browser); $(PY) docs/screenshots.py
	@NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict

messages: $(DEV) ## the texts of the pages into agents/locale, compiled; names what lacks a translation
	@$(PY) -m tests.support.messages

lint: $(DEV) ## form, arrows between the rooms, types
	@$(style)
	@$(PY) -m mypy

format: $(DEV) ## put the code in order
	@$(PY) -m ruff check --fix .
	@$(PY) -m ruff format .
	@$(PY) -m djlint --reformat --warn --quiet templates
	@$(PY) -m djlint --reformat --warn --quiet --profile=jinja agents/jinja2

clean: ## remove what make made; the data in var/ stays
	rm -rf $(VENV) .venv-sdk .mypy_cache .ruff_cache .pytest_cache test-results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

define find_browser
browser=$$(VENV=$(VENV) bash tests/support/ensure_browser.sh) || exit 1; \
export MEMORYWEB_TEST_BROWSER="$$browser"
endef

# The form of the code and of the templates, and the arrows between the rooms.
define style
$(PY) -m ruff check . && $(PY) -m ruff format --check . && \
$(PY) -m djlint --check --lint templates && \
$(PY) -m djlint --check --lint --profile=jinja agents/jinja2 && \
$(VENV)/bin/lint-imports --no-logo --no-cache
endef

# Lint first, as it takes a second; then the tests, with the types checked beside them by a process
# that yields to them. $(1) is the command that runs the tests.
define check
$(style) || exit 1; \
types=$$(mktemp); trap 'rm -f "$$types"' EXIT; \
nice -n 19 $(PY) -m mypy >"$$types" 2>&1 & mypy=$$!; \
trap 'kill $$mypy 2>/dev/null; exit 130' INT TERM; \
$(1); tests=$$?; \
wait $$mypy; typed=$$?; \
echo; echo "Types (mypy):"; cat "$$types"; \
test $$tests = 0 && test $$typed = 0
endef

$(RUN): $(FILES)
	@$(find_or_make_venv)
	@echo "Installing the libraries into $(VENV) (once; about a minute) ..."
	@$(call install,)
	@touch $@

$(HOSTED): $(FILES)
	@$(find_or_make_venv)
	@echo "Installing the libraries, with those for Postgres and Redis, into $(VENV) (once; about a minute) ..."
	@$(call install,hosted)
	@touch $(RUN) $@

$(DEV): $(FILES)
	@$(find_or_make_venv)
	@echo "Installing the libraries and what the tests need into $(VENV) (once; about two minutes) ..."
	@$(call install,hosted dev)
	@touch $(RUN) $(HOSTED) $@

# $(1) names the extras of pyproject.toml to install beside its dependencies.
define install
$(PY) -c 'import sys, tomllib; \
project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
extras = [project["optional-dependencies"][name] for name in sys.argv[1:]]; \
print(*project["dependencies"], *sum(extras, []), sep="\n")' $(1) > $(VENV)/requirements.txt && \
$(PY) -m pip install -qq --no-input -c constraints.txt -r $(VENV)/requirements.txt </dev/null || { \
  echo "The libraries could not be installed: the lines above say why. Is the network there?" >&2; \
  exit 1; \
}
endef

# Leaves a .venv that works alone. Else takes the first Python of 3.11 or newer, and makes one.
define find_or_make_venv
if $(PY) -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then exit 0; fi; \
for python in $(PYTHONS) none; do \
  if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then break; fi; \
done; \
if test "$$python" = none; then \
  version=$$("$(PYTHON)" --version 2>/dev/null || echo "not there"); \
  echo "memoryweb needs Python 3.11 or newer; here, '$(PYTHON)' is $$version." >&2; \
  echo "Install one (Debian: apt-get install python3 python3-venv; macOS: brew install python@3.13)," >&2; \
  echo "or name the one you have: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; \
  exit 1; \
fi; \
if ! "$$python" -c 'import ensurepip, venv' 2>/dev/null; then \
  package=$$("$$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'); \
  if test "$$(id -u)" = 0 && command -v apt-get >/dev/null; then \
    echo "Installing Debian's package $$package ..."; \
    apt-get update -qq </dev/null && \
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$package \
      </dev/null >/dev/null || exit 1; \
  else \
    echo "$$python cannot make virtual environments. As root: apt-get install $$package" >&2; \
    exit 1; \
  fi; \
fi; \
rm -rf $(VENV) && "$$python" -m venv $(VENV)
endef
