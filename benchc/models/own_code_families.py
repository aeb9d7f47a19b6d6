"""The families whose class is Python code outside transformers, by name: rules read them, and import none."""

# Code of the checkpoint runs only where the catalogue trusts it, at a commit.
OF_CHECKPOINT = ("kimi_vl", "molmo", "monkey", "moondream", "mplug_owl3", "sail_vl")
# Code of a package, by the environment that installs it.
OF_PACKAGE = {"deepseek_vl2": "deepseek-vl2", "eagle": "transformers-4-37"}
