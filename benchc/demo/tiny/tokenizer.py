"""A byte-level tokenizer trained on the demo's texts."""

from collections.abc import Iterable, Mapping

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from benchc.hugging_face import transformers

PAD, BOS, EOS = "<pad>", "<s>", "</s>"
VOCABULARY_SIZE = 1024


def train_tokenizer(texts: Iterable[str], special: Mapping[str, str]) -> transformers.PreTrainedTokenizerFast:
    """Train a byte-pair encoding on ``texts``; ``special`` gives further special tokens by role.

    The alphabet contains all 256 bytes, so any two different texts have different tokens, in any script.
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
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        bos_token=BOS,
        eos_token=EOS,
        extra_special_tokens=dict(special),
    )
