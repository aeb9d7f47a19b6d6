"""The families of tiny models that can be trained, a module each; this one imports nothing."""

# Of these, the models answer from a closed list; of all others, they continue a prompt.
CLOSED_LISTS = ("vilt",)
FAMILIES = ("llava", "internvl", "idefics3", *CLOSED_LISTS)
