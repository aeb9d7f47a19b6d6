"""The ids of the benchmarks that can be drawn, for whoever checks a configuration; this imports nothing."""

DRAWN_SOURCES = (
    "drawn-text",
    "drawn-charts",
    "drawn-tables",
    "drawn-shapes",
    "drawn-scenes",
    "drawn-puzzles",
)
