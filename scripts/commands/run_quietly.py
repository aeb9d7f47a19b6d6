"""Run Snakemake, with its options. What jobs print is dropped, since it is in their logs."""

import os
import sys

from snakemake.cli import main

from scripts.command import run

if __name__ == "__main__":
    sys.argv[0] = "snakemake"  # in its messages
    # Snakemake holds the present stream for its jobs, and prints to the one that replaces it.
    sys.stdout = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    run(main)
