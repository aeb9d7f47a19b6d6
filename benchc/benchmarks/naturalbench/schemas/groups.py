"""`pool/groups.parquet`: one row is an item of a whole group: which question of it about which image."""

from dataclasses import dataclass

import polars as pl

from benchc.schemas.footer import Footer
from benchc.schemas.parquet import TableType

MINED, RANDOM = "mined", "random"  # how a pair of images was found


@dataclass(frozen=True, kw_only=True)
class GroupsFooter(Footer):
    """Of the groups of a pool, and of the tags of their items.

    Attributes:
        pool: digest of the pool's questions
    """

    pool: str


GROUPS = TableType(
    "groups",
    1,
    {
        "id": pl.String,  # of the item
        "group": pl.String,
        "q_idx": pl.Int64,  # 0 or 1
        "i_idx": pl.Int64,  # 0 or 1
        "subset": pl.String,  # such as Flickr30K or DOCCI
        "type": pl.String,  # yes_no | multiple_choice
        "language": pl.String,  # English unless the source says otherwise
        "method": pl.String,  # mined | random: how the pair was found
    },
)
