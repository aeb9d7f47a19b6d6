"""Generate one of the demo's data sets as a TSV file in VLMEvalKit's format."""

from pathlib import Path

from benchc.atomic import atomic_write
from benchc.command_line import PositiveInt, SourceId
from benchc.demo.source import generate_source


def generate_demo_source(*, source: SourceId, seed: int, groups: PositiveInt, output: Path) -> None:
    """Generate one of the demo's data sets as a TSV file in VLMEvalKit's format.

    Args:
        source: data set to generate
        seed: of the images
        groups: groups per category; a group has one item per option
        output: TSV file to write
    """
    frame = generate_source(source, seed=seed, groups=groups)
    with atomic_write(output) as file:
        frame.write_csv(file, separator="\t", quote_style="always")
    print(f"{output}: {frame.height:,} items in {frame['category'].n_unique()} categories")
