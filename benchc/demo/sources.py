"""The ids of the demo's synthetic benchmarks. Imports nothing, so that checking a configuration is fast."""

GENERATED_SOURCES = (
    "drawn-text",
    "drawn-charts",
    "drawn-tables",
    "drawn-shapes",
    "drawn-scenes",
    "drawn-puzzles",
)
