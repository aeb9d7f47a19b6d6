"""An executor of Snakemake for SLURM, as slurm/site.yaml describes the cluster.

It is Snakemake's own plugin, but for four parts. A job asks for what it needs within the limits of a
partition, for more memory only after it had too little, and for more time only after a time-out. Short jobs
that are ready together are one job of SLURM. The state of a job is known without accounting, and however soon
SLURM forgets it. A Snakemake that is started after another was killed takes over the jobs that still run.
"""

from snakemake_executor_plugin_slurm import common_settings

from snakemake_executor_plugin_slurm_site.executor import Executor
from snakemake_executor_plugin_slurm_site.settings import ExecutorSettings

__all__ = ["Executor", "ExecutorSettings", "common_settings"]
