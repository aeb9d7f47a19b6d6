"""The families of tiny models that can be trained, each a module beside this one; this imports nothing."""

FAMILIES = ("llava", "internvl", "idefics3")
