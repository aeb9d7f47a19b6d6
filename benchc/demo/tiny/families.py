"""The families of tiny models that can be trained, a module each; this one imports nothing."""

FAMILIES = ("llava", "internvl", "idefics3")
