"""Snakemake's option `--logger stages`: one line per stage instead of several per job.

Snakemake imports every package whose name begins with `snakemake_logger_plugin_` and looks for
LogHandler and LogHandlerSettings.
"""

from snakemake_logger_plugin_stages.handler import LogHandler
from snakemake_logger_plugin_stages.settings import LogHandlerSettings

__all__ = ["LogHandler", "LogHandlerSettings"]
