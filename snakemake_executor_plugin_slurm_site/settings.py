"""The options of the executor on Snakemake's command line and in a profile."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

from snakemake_executor_plugin_slurm import ExecutorSettings as SlurmSettings

from benchc.cluster.site import SITE


@dataclass
class ExecutorSettings(SlurmSettings):  # type: ignore[misc]  # the plugin has no types
    """The options of Snakemake's plugin for SLURM, each as ``--slurm-site-<field>``, and one more."""

    file: Path = field(default=SITE, metadata={"help": f"Description of the cluster (default: {SITE})."})
    # With sacct, the plugin warns of settings that are not used here.
    # Snakemake reads the type, and knows only this form.
    status_command: Optional[str] = field(  # noqa: UP045
        default="squeue", metadata={"help": "Not used."}
    )
