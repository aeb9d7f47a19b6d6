"""A byte-level tokenizer whose whole words are the world's."""

from collections.abc import Iterable, Mapping

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

PAD, BOS, EOS = "<pad>", "<s>", "</s>"
VOCABULARY_SIZE = 1024


def train_tokenizer(texts: Iterable[str], special: Mapping[str, str]) -> PreTrainedTokenizerFast:
    """Train a byte-pair encoding on ``texts``; ``special`` names further special tokens by their role.

    All 256 bytes are in the alphabet, so every text has its own tokens, in whatever script.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY_SIZE,
        special_tokens=[PAD, BOS, EOS, *dict.fromkeys(special.values())],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        bos_token=BOS,
        eos_token=EOS,
        extra_special_tokens=dict(special),
    )
