"""How a data file differs from VLMEvalKit's usual format. Imports no polars, for the rules use it, too."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from benchc.command_line import Json
from benchc.letters import LETTERS

# Share of a source's rows above which rejected ones stop the run: a key of the reader is probably wrong.
MOST_REJECTED = 0.5

# The columns that an item is made of.
STANDARD = ("index", "image", "question", "hint", "options", *LETTERS, "answer", "category", "l2_category")


@dataclass(frozen=True)
class ReaderOptions:
    """How a data file differs from VLMEvalKit's usual format.

    Attributes:
        options_column: column with all options as one Python list of strings such as '(A) red'
        index_below: omit rows with this index or a larger one (MMBench's circular copies)
        exclude: omit rows with this value or one of these, by column, such as {"question_type": "sort"}
        image_column: column with the name of the row's image, or a Python list of names; rows with one name
            share one image (VQAv2's image_id)
        pixel_keys: rows of this and of other such sources whose images have the same pixels share one image
        one_image: reject rows with several images
        task_column: column with the task type; rows without one are rejected, since the pool is balanced by
            it
        answer_words: the answers are Yes and No, or letters A and B of options in the question's text, and
            these words are the options; else a file without a column of options has open-ended questions
        category_column: column with the category, if it is not called category
        open_ended: rows without options are open-ended questions, in a file that has columns of options
        answer_lists: the answer to an open-ended question is a list of texts, such as captions of the image;
            in a file with a column ``answers``, the list is there, beside the one answer
        columns: the file's name of a standard column, by the standard name: index, image, question, hint,
            options (a list), A, B, ..., answer, category, l2_category; of image also several
        answer_form: what the answer is: the letter of the option, its 0-based index, or its text
        problem_column: column that says why a row is no item; empty of those that are
    """

    options_column: str | None = None
    index_below: int | None = None
    exclude: Annotated[Mapping[str, str | list[str]], Json] = field(default_factory=dict)
    image_column: str | None = None
    pixel_keys: bool = False
    one_image: bool = False
    task_column: Literal["category", "l2_category"] | None = None
    answer_words: bool = False
    category_column: str | None = None
    open_ended: bool = False
    answer_lists: bool = False
    columns: Annotated[Mapping[str, str | list[str]], Json] = field(default_factory=dict)
    answer_form: Literal["letter", "index", "text"] = "letter"
    problem_column: str | None = None


# Of a TSV that benchc.sources.conversion writes.
CONVERTED = ReaderOptions(image_column="image_name", answer_lists=True, problem_column="problem")
