# Two commands set up a fresh machine: `make demo` (install, then the pipeline on the embedded default) and
# `make test` (install, then all tests). They need Python 3.11 and nothing else.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
CORES ?= all
CONFIG ?= config/demo.yaml
RUN := $(shell sed -n 's/^name: *\([^ #]*\).*/\1/p' $(CONFIG))
# Jobs find `python` on the path.
export PATH := $(abspath $(VENV))/bin:$(PATH)

.PHONY: demo test check-demo bench-corruptions bench-selection bench-metrics install lint clean
.DEFAULT_GOAL := demo

demo: install
	snakemake --configfile $(CONFIG) --cores $(CORES) --prioritize figure1a --quiet host reason
	snakemake --configfile $(CONFIG) --report results/$(RUN)/report.html --quiet
	@echo; cat results/$(RUN)/tables/table1.md
	@echo; echo "Figures: results/$(RUN)/figures    Report: results/$(RUN)/report.html"

test: install lint
	python -m pytest

# What the embedded default promises (accuracies, costs of corruptions, figures), checked on `make demo`'s output.
check-demo: demo
	python -m pytest tests/benchmarks/bench_c/demo_run -s --run results/demo

# Against the imagecorruptions package, one thread each: about ten minutes.
bench-corruptions: install
	python speed/corruptions.py --output results/speed/corruptions.json

# Scoring, aggregation and bootstrap at the paper's size, and against a pandas loop: about two minutes.
bench-metrics: install
	python speed/metrics.py

# Against a matrix-vector product per step, one thread, up to a million items: about five minutes.
bench-selection: install
	python speed/selection.py

lint: install
	ruff check .
	ruff format --check .
	mypy
	snakefmt --check Snakefile rules
	snakemake --configfile config/demo.yaml --lint

install: $(VENV)/.installed

# torch goes first and alone: a later resolution would otherwise replace it by a newer one. The lock is complete,
# so nothing is resolved: imaug would bring the desktop's OpenCV beside the headless one, and that needs libGL.
$(VENV)/.installed: requirements.lock pyproject.toml
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info[:2] != (3, 11))" \
		|| { echo "benchc needs Python 3.11; name it: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	pip install --quiet --progress-bar off torch==2.13.0
	pip install --quiet --progress-bar off --no-deps --requirement requirements.lock
	pip install --quiet --progress-bar off --no-deps --editable .
	touch $@

clean:
	rm -rf results/demo results/generated results/models logs/demo
