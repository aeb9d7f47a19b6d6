"""Signature of eagle/model/multimodal_encoder/vision_models/convnext.py of NVlabs/EAGLE."""

from torch import nn


def convnext_xxlarge(pretrained=False, **kwargs):
    if pretrained:
        raise ConnectionError("timm would download weights of several GB here")
    return nn.Linear(2, 2)
