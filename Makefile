# `make demo` installs the project and runs the pipeline on the demo; `make test` installs it and runs all tests.
# Both need only Python 3.11, 3.12 or 3.13. `make demo FULL=1` shows all lines of Snakemake and of the jobs.

# The first that runs: of pyenv, commands of versions that are not active are on the path, too.
PYTHON ?= $(shell for each in python3.11 python3.12 python3.13; do $$each -c "" 2>/dev/null && command -v $$each && exit; done; echo python3)
VENV ?= .venv
CORES ?= all
lazy = $(if $(PYTHONDONTWRITEBYTECODE),,--no-compile)
CONFIG ?= config/demo.yaml
RUN := $(shell sed -n 's/^name: *\([^ #]*\).*/\1/p' $(CONFIG))
# With the large packages imported once for all jobs; the measurements of jobs are then not those of a user.
run_fast = python -m tests.workflow.preloaded benchc run $(1) $(if $(FULL),--full) --cores $(CORES)
SPHINX = python -m sphinx -c docs --nitpicky --quiet
# A job would compile the project's modules at each start.
unexport PYTHONDONTWRITEBYTECODE
# Jobs run the `python` on the path.
export PATH := $(abspath $(VENV))/bin:$(PATH)

.PHONY: demo test test-cluster test-faults slurm docs docs-links docs-images browser check-demo demo-checks bench-corruptions bench-selection bench-mining bench-cache bench-sources bench-metrics bench-inference bench-host bench-page bench-gpu first-gpu-hour install lint clean bench-cube bench-planning mutation
.DEFAULT_GOAL := demo

demo: install
	$(call run_fast,$(CONFIG)) $(if $(filter demo,$(RUN)),--prioritize figure1a --scheduler greedy)
	snakemake --configfile $(CONFIG) --report results/$(RUN)/report.html --quiet
	@echo; for table in table1 vre_model rank; do \
		[ ! -f results/$(RUN)/tables/$$table.md ] || cat results/$(RUN)/tables/$$table.md; done
	@echo; echo "All tables, figures and samples: results/$(RUN)/index.html (benchc view results/$(RUN) opens it)"

test: install browser slurm
	$(MAKE) --jobs 2 $(if $(filter output-sync,$(.FEATURES)),--output-sync) lint docs
	python -m pytest --numprocesses auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder

# README and docs as a site. A broken link between pages is an error.
docs: install
	$(SPHINX) -b html -W --keep-going . docs/_build/html
	@echo "Site: docs/_build/html/index.html"

# All links to other sites, over the network: about a minute.
docs-links: install
	$(SPHINX) -b linkcheck . docs/_build/links

# A headless browser, in which tests click through pages.
browser:
	@command -v chromedriver >/dev/null && command -v chromium >/dev/null || { \
		root=$$([ "$$(id -u)" = 0 ] || echo sudo); \
		$$root apt-get update -qq && $$root apt-get install -y -qq --no-install-recommends chromium chromium-driver; \
	} || { echo "error: the tests need chromium and chromedriver; install chromium and chromium-driver (Debian), or by brew the casks chromium and chromedriver (macOS)"; exit 1; }

# A real SLURM for tests, where Debian's packages and root are; elsewhere its tests are skipped.
slurm:
	@command -v apt-get > /dev/null && [ "$$(id -u)" = 0 ] || exit 0; \
	PATH="$$PATH:/usr/sbin"; command -v slurmctld slurmd munged slurmdbd mariadbd squeue > /dev/null || { \
		if [ -e /usr/sbin/policy-rc.d ]; then own=; else own=1; \
			printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d; chmod +x /usr/sbin/policy-rc.d; fi; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
			munge slurmctld slurmd slurm-client slurmdbd mariadb-server-core mariadb-client-core; \
		status=$$?; [ -z "$$own" ] || rm /usr/sbin/policy-rc.d; exit $$status; }

# What dies, is put back, or has too little while jobs run on a real SLURM: about 55 minutes on
# two cores.
test-cluster: install slurm
	python -m pytest --timeout 3600 $(addprefix tests/workflow/slurm/,test_run.py benchmarks.py failures.py limits.py)

# Kills at random moments, full disks, read-only folders, clocks set back, two runs in one folder: about 20 minutes on
# two cores. SEED=1 takes other moments. Disks are mounted, which needs root; elsewhere these tests are skipped.
test-faults: install
	python -m pytest --timeout 3600 $(addprefix tests/workflow/faults/,kills.py writes.py others.py) $(if $(SEED),--seed $(SEED))

# The images of README and docs, from the finished demo.
docs-images: demo browser
	python -m tests.docs_images

# Runs two diagnostics, another model on the demo's benchmark, and the demos of other benchmarks, and checks the demos'
# results: accuracies, effects of corruptions, generated answers, figures. Then runs the 120 real groups of NaturalBench
# and the real items of R-Bench, where they are.
check-demo: demo browser
	python -m tests.workflow.preloaded $(MAKE) demo-checks

# Part of check-demo, with the large packages imported once for all runs.
demo-checks:
	$(call run_fast,config/demo-diagnostics.yaml)
	python -m pytest tests/benchmarks/bench_c/demo_run -s --run results/demo
	python -m tests.workflow.preloaded benchc evaluate --benchmark results/demo --model tiny-llava-s --cores $(CORES)
	$(call run_fast,config/demo-vqa-robustness.yaml)
	python -m pytest tests/benchmarks/vqa_robustness/demo_run -s --run results/demo-vqa-robustness
	$(call run_fast,config/demo-naturalbench.yaml)
	python -m pytest tests/benchmarks/naturalbench/demo_run -s --run results/demo-naturalbench
	$(call run_fast,config/demo-r-bench.yaml)
	python -m pytest tests/benchmarks/r_bench/demo_run -s --run results/demo-r-bench
	$(call run_fast,config/demo-mllm-ic.yaml)
	python -m pytest tests/benchmarks/mllm_ic/demo_run -s --run results/demo-mllm-ic
	@if [ -d "$${BENCHC_SHARED:-../shared}/data/real/paired" ]; then \
		$(call run_fast,config/real-groups.yaml); \
	else echo "config/real-groups.yaml is not run: set BENCHC_SHARED to the folder with the real groups"; fi
	@if [ -d "$${BENCHC_SHARED:-../shared}/data/real/caption" ]; then \
		$(call run_fast,config/real-pairs.yaml); \
	else echo "config/real-pairs.yaml is not run: set BENCHC_SHARED to the folder with the real items"; fi

# Comparison with the imagecorruptions package, one thread each: about ten minutes.
bench-corruptions: install
	python speed/corruptions.py --output results/speed/corruptions.json

# Comparison with a loop that asks for one image at a time, on the demo's models, one thread: about five minutes.
bench-inference: demo
	python speed/inference.py

# Image processors compared with transformers' own, and how busy worker processes keep a device: about 20 minutes.
bench-host: install
	python speed/host.py

# Random weights of InternVL3-1B's and Qwen2.5-VL-7B's size. It needs a torch with CUDA, a GPU with 40 GB free, and 40 GB of
# main memory. TINY=1 tries it with small models in a minute, on any GPU or the CPU.
bench-gpu: install
	python speed/gpu_inference.py $(if $(TINY),--tiny)

# Checks and measurements on a GPU that no one has tried yet, 40 minutes at most. PART="memory compile" runs some parts; TINY=1
# takes small models, without a GPU on the CPU. A GPU as for bench-gpu. python speed/first_gpu_hour.py --page then
# writes docs/benchmarks.md.
first-gpu-hour: install
	python speed/first_gpu_hour.py $(PART) $(if $(TINY),--tiny)

# Scoring, aggregation and bootstrap at the paper's size, compared with a pandas loop: about two minutes.
bench-metrics: install
	python speed/metrics.py

# Accuracies of MLLM-IC by scenario and capability at the paper's size and two smaller ones: about two minutes.
bench-cube: install
	python speed/cube.py

# Comparison with a matrix-vector product per step, one thread, up to a million items: about five minutes.
bench-selection: install
	python speed/selection.py

# The search for mismatched pairs, compared with the bare products of matrices, one thread: about 20 minutes.
bench-mining: install
	python speed/mining.py

# Opening a prediction cache of a million units, compared with reading all of it, one thread: about five minutes.
bench-cache: install
	python speed/cache.py

# The results page with up to 4,000 samples, in a headless browser: about four minutes.
bench-page: install browser
	python speed/results_page.py

# The dry run of the largest runs, with their jobs and files: about a minute.
bench-planning: install
	python speed/planning.py

# Runs the tests once, to find which of them run which line (about 17 minutes on two cores). Then changes an operator at a
# random place of the code, runs the tests beside its module, and so on for an hour: the share of changes that a test notices.
mutation: install
	pip install --quiet --progress-bar off --constraint requirements.lock cosmic-ray==8.7.0 pytest-cov==7.1.0
	python -m tests.mutation --to build/mutation.md

# Reading a source's TSV of 1 GB, compared with pandas and the decoding of its images: about four minutes.
bench-sources: install
	python speed/sources.py

lint: install
	ruff check .
	ruff format --check .
	mypy
	deptry --no-ansi benchc scripts snakemake_logger_plugin_stages
	snakefmt --check Snakefile rules
	snakemake --configfile config/demo.yaml --lint

install: $(VENV)/.installed

# torch is installed first, so that no dependency replaces it with a newer version. The lock is complete, so no
# dependencies are resolved: imaug's would add the desktop OpenCV, which needs libGL, to the headless one. To compile all
# modules takes half of the time, and Python compiles those that it imports, unless the environment forbids it.
$(VENV)/.installed: requirements.lock pyproject.toml
	@$(PYTHON) -c "import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))" \
		|| { echo "error: benchc needs Python 3.11, 3.12 or 3.13; run make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	pip install --quiet --progress-bar off $(lazy) torch==2.13.0
	pip install --quiet --progress-bar off $(lazy) --no-deps --requirement requirements.lock
	pip install --quiet --progress-bar off $(lazy) --no-deps --editable .
	touch $@

clean:
	rm -rf results/demo results/demo-diagnostics results/generated results/models logs/demo logs/demo-diagnostics
