"""The letters that options go by: the first is A."""

import string

LETTERS = string.ascii_uppercase
