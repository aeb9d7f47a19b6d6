"""What tokenization_qwen.py of echo840/Monkey-Chat does: the bytes of a path between <img> and </img>."""

import re

from transformers import PreTrainedTokenizer

SPAN = 160
SPECIAL = ("<img>", "</img>", "<imgpad>")
# Bytes, then the same after a space, so that " A" is one token.
FIRST = 512


class QWenTokenizer(PreTrainedTokenizer):
    vocab_files_names = {}  # noqa: RUF012

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.eod_id = FIRST + len(SPECIAL)

    @property
    def vocab_size(self):
        return FIRST + len(SPECIAL) + 1

    def get_vocab(self):
        return {str(number): number for number in range(self.vocab_size)}

    def __len__(self):
        return self.vocab_size

    def save_vocabulary(self, save_directory, filename_prefix=None):
        return ()

    def tokenize(self, text, **kwargs):
        tokens = []
        for part in re.split(r"(<img>.*?</img>)", text, flags=re.DOTALL):
            if part.startswith("<img>") and part.endswith("</img>"):
                path = list(part[5:-6].encode())
                assert len(path) <= SPAN
                tokens += [FIRST, *path, *[FIRST + 2] * (SPAN - len(path)), FIRST + 1]
            else:
                for match in re.finditer(rb" ?[^ ]| ", part.encode()):
                    piece = match[0]
                    tokens.append(piece[-1] + 256 if len(piece) == 2 else piece[0])
        return [str(token) for token in tokens]

    def _convert_token_to_id(self, token):
        return int(token)

    def _convert_id_to_token(self, index):
        return str(index)
