"""The letters of the options; the first option is A."""

import string

LETTERS = string.ascii_uppercase
