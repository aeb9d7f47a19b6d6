"""A tiny ViLT: one stack of layers for the tokens of a question and the patches of one image.

Its answers are a closed list: the option texts of the training set's items with one image. Its prompts do not
list an item's options.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from tokenizers.processors import TemplateProcessing
from torch.nn import functional

from benchc.demo.tiny.processor import IMAGE_SETTINGS
from benchc.demo.tiny.settings import TrainingSettings
from benchc.demo.tiny.size import IMAGE_SIDE, TinySize
from benchc.demo.tiny.steps import pixels_of, take_steps
from benchc.demo.tiny.tokenizer import BOS, EOS, train_tokenizer
from benchc.demo.training_set import TrainingSet
from benchc.hugging_face import transformers
from benchc.models.question import Question, bare_prompt

# Of a question; as ViLT's.
TRAINED_TOKENS = 40
# A question of other data has more tokens of the small vocabulary.
MOST_TOKENS = 200


def closed_list(training_set: TrainingSet) -> list[str]:
    """Return the different option texts of all items with one image, sorted."""
    one = _image_counts(training_set) == 1
    numbers = np.unique(training_set.item_question[one])
    return sorted({option for number in numbers for option in training_set.questions[number].options})


def build(
    questions: Sequence[Question], labels: Sequence[str], size: TinySize
) -> tuple[transformers.ViltForQuestionAnswering, transformers.ViltProcessor]:
    """Return a model with random weights and its processor; the tokenizer is trained on ``questions``.

    The layers are those of the vision encoder and of the language model of ``size`` together.
    """
    tokenizer = train_tokenizer(map(bare_prompt, questions), {})
    # The answer is read from the first position.
    ends = [(token, tokenizer.convert_tokens_to_ids(token)) for token in (BOS, EOS)]
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single=f"{BOS} $A {EOS}", special_tokens=ends
    )
    processor = transformers.ViltProcessor(
        # The divisor makes a square of images up to 4:3, as those of the training set. Longer ones keep a
        # part of their length, and images up to 3:1 half of their width.
        image_processor=transformers.ViltImageProcessorPil(
            size={"shortest_edge": size.image_side}, size_divisor=size.image_side // 2, **IMAGE_SETTINGS
        ),
        tokenizer=tokenizer,
    )
    config = transformers.ViltConfig(
        vocab_size=len(tokenizer),
        pad_token_id=tokenizer.pad_token_id,
        hidden_size=size.hidden,
        intermediate_size=2 * size.hidden,
        num_hidden_layers=size.vision_layers + size.text_layers,
        num_attention_heads=size.heads,
        max_position_embeddings=TRAINED_TOKENS,
        image_size=size.image_side,
        patch_size=size.patch,
        id2label=dict(enumerate(labels)),
        label2id={label: place for place, label in enumerate(labels)},
    )
    return transformers.ViltForQuestionAnswering(config), processor


def train(
    model: Any,
    processor: Any,
    training_set: TrainingSet,
    settings: TrainingSettings,
    label: str = "training",
) -> list[float]:
    """Train ``model`` in place on the items with one image, and return the loss of every step.

    The loss is that of the answer, and that of predicting it from the image tokens alone, as of the other
    tiny models. The same arguments give the same weights on one machine with one number of threads, if
    torch's own generator is in the same state: ViLT shuffles patches. Raises InputError at the first step
    whose loss is not finite.
    """
    counts = _image_counts(training_set)
    tokens = [processor.tokenizer(bare_prompt(q))["input_ids"] for q in training_set.questions]
    places = model.config.label2id
    targets = torch.tensor(
        [
            places.get(training_set.questions[question].options[answer], -1)
            for question, answer in zip(training_set.item_question, training_set.item_answer, strict=True)
        ]
    )

    def loss_of(step: int, items: npt.NDArray[np.int64], generator: torch.Generator) -> torch.Tensor:
        prompts = [tokens[number] for number in training_set.item_question[items]]
        ids, mask = _padded(prompts, processor.tokenizer.pad_token_id)
        output = model.vilt(
            input_ids=ids,
            attention_mask=mask,
            pixel_values=pixels_of(training_set, items, settings.noise, generator)[:, 0],
            pixel_mask=torch.ones(len(items), IMAGE_SIDE, IMAGE_SIDE, dtype=torch.int64),
            output_hidden_states=True,
        )
        loss = functional.cross_entropy(model.classifier(output.pooler_output), targets[items])
        return loss + image_loss(model, output.hidden_states[1:], ids.shape[1], targets[items])

    losses = take_steps(model, loss_of, np.where(counts == 1, 1, 0), settings, label)
    extend_positions(model)
    return losses


def extend_positions(model: Any) -> None:
    """Repeat the embeddings of positions, so that the model reads questions of ``MOST_TOKENS``."""
    table = model.vilt.embeddings.text_embeddings.position_embeddings
    times = -(-MOST_TOKENS // len(table.weight))
    table.weight = torch.nn.Parameter(table.weight.detach().repeat(times, 1)[:MOST_TOKENS])
    table.num_embeddings = model.config.max_position_embeddings = MOST_TOKENS


def image_loss(
    model: Any, layers: Sequence[torch.Tensor], length: int, targets: torch.Tensor
) -> torch.Tensor:
    """Return the cross-entropy of ``targets`` [items], predicted from the mean image token; mean over layers.

    ``layers``: the hidden states [items, positions, hidden] after each layer, of which the first ``length``
    positions are the question's. See :func:`benchc.demo.tiny.training.image_loss`.
    """
    losses = [
        functional.cross_entropy(
            model.classifier(
                model.vilt.pooler(model.vilt.layernorm(states[:, length:]).mean(dim=1, keepdim=True))
            ),
            targets,
        )
        for states in layers
    ]
    return torch.stack(losses).mean()


def _image_counts(training_set: TrainingSet) -> npt.NDArray[np.int64]:
    counts: npt.NDArray[np.int64] = (training_set.item_images >= 0).sum(axis=1)
    return counts


def _padded(prompts: Sequence[Sequence[int]], padding: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return token ids [items, length] with padding on the right, and a mask that is 0 there."""
    rows = [torch.tensor(prompt) for prompt in prompts]
    ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=padding)
    mask = torch.nn.utils.rnn.pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)
    return ids, mask
