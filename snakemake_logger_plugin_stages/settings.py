"""The options of the logger on Snakemake's command line."""

from dataclasses import dataclass, field

from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase


@dataclass
class LogHandlerSettings(LogHandlerSettingsBase):
    """Each field is the option `--logger-stages-<field>`."""

    results: str = field(
        default="",
        metadata={"help": "Folder of the run's results, which the last line of a complete run names."},
    )
