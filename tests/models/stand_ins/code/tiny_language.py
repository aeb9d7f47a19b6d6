"""What the stand-ins have in common: a causal language model of one layer, and four features of an image."""

import torch
from torch import nn
from torch.nn import functional
from transformers import PretrainedConfig

IMAGE_TOKENS = 4
# Arguments of a causal model's forward pass that the stand-ins do not read.
UNREAD = {
    *("position_ids", "past_key_values", "inputs_embeds", "labels", "use_cache"),
    *("output_attentions", "output_hidden_states", "return_dict"),
}


def refuse_others(given, *more):
    """Refuse arguments that upstream does not have; ``more``: those that it has beside ``UNREAD``."""
    assert given.keys() <= UNREAD | set(more), given.keys()


class SizedConfig(PretrainedConfig):
    """The sizes of a causal model."""

    vocab_size: int = 8
    hidden_size: int = 8


def values_of(embeddings, mix, start=0):
    """Return what each position adds to the later ones, which depends on its place."""
    end, device = start + embeddings.shape[1], embeddings.device
    rows, columns = torch.arange(start, end, device=device), torch.arange(embeddings.shape[2], device=device)
    places = rows[:, None] * (columns + 1)
    return mix(embeddings) * (1 + 0.5 * torch.sin(places / 7).to(embeddings.dtype))


class Layer(nn.Module):
    """Add to each embedding [batch, positions, hidden] the mean of the values up to it, and normalise."""

    def __init__(self, hidden):
        super().__init__()
        self.mix = nn.Linear(hidden, hidden)
        self.norm = nn.LayerNorm(hidden)

    def forward(self, embeddings):
        length, like = embeddings.shape[1], {"dtype": embeddings.dtype, "device": embeddings.device}
        counts = torch.arange(1, length + 1, **like)[:, None]
        return self.norm(embeddings + values_of(embeddings, self.mix).cumsum(1) / counts)


class Vision(nn.Module):
    """Turn pixels [images, 3, height, width] into features [images, 4, hidden]."""

    def __init__(self, hidden):
        super().__init__()
        self.project = nn.Linear(3, hidden)

    def forward(self, pixels):
        pooled = functional.adaptive_avg_pool2d(pixels, 2).flatten(2).transpose(1, 2)
        return self.project(pooled)


def pixels_of(image, side=16):
    """Return a PIL image as float32[3, side, side] in [-1, 1]."""
    data = torch.frombuffer(bytearray(image.resize((side, side)).tobytes()), dtype=torch.uint8)
    return data.view(side, side, 3).permute(2, 0, 1).float() / 127.5 - 1
